"""The command tells how the rows go, as they do: a line each for people, JSON lines for machines,
and the file of results beside them."""

import shlex

from rutter.pipeline.batches.report import BatchReport, values_of
from rutter.pipeline.batches.row_values import BoundRow
from rutter.pipeline.batches.scheduler import BatchRun
from rutter.pipeline.cli.terminal import MovingLine, Terminal
from rutter.pipeline.config import exit_codes
from rutter.pipeline.config.exit_codes import Exit
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.queries.workflows_and_sessions import catch_up
from rutter.replay.story.batch_rows import IN_DOUBT, NOT_AGAIN, RowState, counted
from rutter.replay.story.wording import ascii_only

SHOWN = 60  # characters of a value in the line of its row


class RowProgress(MovingLine):
    """This hears what becomes of each row, and tells it."""

    def __init__(
        self,
        batch_run: BatchRun,
        report: BatchReport,
        workflow: str,
        settings: Settings,
        terminal: Terminal,
    ) -> None:
        super().__init__(terminal, "rows")
        self._run = batch_run
        self._rows = batch_run.rows
        self._report = report
        self._workflow = workflow
        self._settings = settings
        self._under_way: list[int] = []
        self._lined: set[int] = set()

    # -- as it goes ----------------------------------------------------------------------------

    def begin(self) -> None:
        counts = counted(self._run.told.values())
        before = [f"{counts[each]} {each} before" for each in NOT_AGAIN if each in counts]
        left = len(self._run.left())
        parts = ", ".join([*before, f"{left} to run"])
        self.write()  # what cannot be written is said before anything is run
        self._terminal.note(f"{self._workflow}: {len(self._rows)} rows, {parts}")
        if left:
            self.start()

    def begun(self, row: BoundRow) -> None:
        self._under_way.append(row.number)
        self._move()

    def ended(self, row: BoundRow, told: RowState) -> None:
        self._under_way.remove(row.number)
        self._lined.add(row.number)
        self.write()
        with self.still():
            self._line(row, told)
            self._move()

    def write(self) -> None:
        self._report.write(self._rows, self._run.told)

    def _move(self) -> None:
        over = sum(self._run.of(row).outcome == "done" for row in self._rows)
        now = ", ".join(map(str, self._under_way))
        self.move(f"row {now} of {len(self._rows)}, {over} done")

    def _line(self, row: BoundRow, told: RowState) -> None:
        if self._terminal.as_json:
            self._terminal.json(
                {
                    "row": row.number,
                    "of": len(self._rows),
                    "outcome": told.outcome,
                    "reason": told.why,
                    "session": told.session,
                    "results": values_of(told),
                }
            )
            return
        said = "; ".join(f"{name} = {_short(each)}" for name, each in values_of(told).items())
        if told.outcome == "done":
            ending = f": {said}" if said else ""
            self._terminal.say(f"[OK] row {row.number} of {len(self._rows)}{ending}")
            return
        self._terminal.say(f"[FAIL] row {row.number} of {len(self._rows)}: {_in_words(told)}")
        if advice := self._advice(told):
            self._terminal.say_below(advice)

    def _advice(self, told: RowState) -> str:
        if not told.session:
            return ""
        if told.outcome in IN_DOUBT:
            again = f"run {shlex.quote(self._workflow)} --from {told.session}"
            asks = "Check on the site whether it was done; this asks, and goes on behind it"
            return f"{asks}: {self._settings.command(again)}"
        return f"Details: {self._settings.command(f'show {told.session}')}"

    # -- afterwards ----------------------------------------------------------------------------

    def end(self) -> int:
        if self._settings.directory.log.exists():
            catch_up(self._settings)
        counts = counted(map(self._run.of, self._rows))
        code = self._code()
        if self._terminal.as_json:
            for row in self._doubted():
                self._line(row, self._run.of(row))
            said = {"rows": len(self._rows), "results": str(self._report.place)}
            self._terminal.json(said | {str(outcome): count for outcome, count in counts.items()})
            return code
        parts = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
        mark = "[OK]" if code == Exit.DONE else "[FAIL]"
        self._terminal.say(f"{mark} {len(self._rows)} rows: {parts}")
        self._terminal.say_below(*self._rest())
        self._terminal.say_below(f"What became of each row: {self._report.place}")
        return code

    def _doubted(self) -> list[BoundRow]:
        """Those of which no line said yet that they are in doubt: they were so before."""
        doubted = [row for row in self._rows if self._run.of(row).outcome in IN_DOUBT]
        return [row for row in doubted if row.number not in self._lined]

    def _rest(self) -> list[str]:
        """What was in doubt before, and what is to be done now."""
        lines = [
            f"row {row.number}: {_in_words(self._run.of(row))}; {self._advice(self._run.of(row))}"
            for row in self._doubted()
        ]
        outcomes = {self._run.of(row).outcome for row in self._rows}
        if self._run.gave_up:
            lines.append(f"Stopped: {self._run.failures} rows failed one after another.")
        if outcomes == {"done"} and not self._run.began:
            lines.append("Nothing was left to run. Every row once more: --afresh")
        elif self._run.left():
            mended = (
                "Correct the failed rows in the file and type" if "failed" in outcomes else "Type"
            )
            lines.append(f"{mended} the same command again. Finished rows are skipped.")
        return lines

    def _code(self) -> int:
        """The one that all failed rows have in common, else that not everything is done."""
        failed = [told for told in map(self._run.of, self._rows) if told.outcome != "done"]
        if not failed:
            return Exit.DONE
        if self._run.stopped:
            return Exit.INTERRUPTED
        codes = {
            exit_codes.of_session(told.run.reason, told.run.failure)
            for told in failed
            if told.run is not None
        }
        return codes.pop() if len(codes) == 1 else Exit.NOT_VERIFIED


def _in_words(told: RowState) -> str:
    if told.run is not None and told.run.words:
        return told.run.words
    if told.outcome == "unverified":
        return f"sent, and not verified ({told.why})"
    if told.outcome == "unknown":
        return f"whether it was done is not known ({told.why})"
    if told.run is not None and told.outcome == (told.run.failure or told.run.reason) != "failed":
        return told.why
    return f"{told.outcome}: {told.why}" if told.why else told.outcome


def _short(value: str) -> str:
    text = ascii_only(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."
