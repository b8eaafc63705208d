"""Makes runs that fail, each in its own way, in a real Chromium on a site of invoices.

    python -m tests.failures.make [NAME ...]

Their logs are kept beside this, as golden ones are; `docs/failures.md` is what is said of them
(`python -m tests.failures.told`). Without names those are made that are not there yet.
"""

import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import psutil

from rutter.events.runtime import SessionStarted
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.sqlite_schema import Row
from tests.failures.billing_site import BillingSite
from tests.failures.told import LOGS, write_run
from tests.support.command_shell import Ended, Rutter

PORT = 8200  # the addresses in the logs are those of the last time
WATCHED = {"number": "INV-1043", "amount": "120.00", "status": "sent"}
SITE = f"http://127.0.0.1:{PORT}"
HERE = ("--allow", f"127.0.0.1:{PORT}")
NO, YES = ("--answers", "no.json"), ("--answers", "yes.json")


class Case(NamedTuple):
    """A run fails so. `mode` is what goes wrong on the site, `set` what is given otherwise; it is
    stopped when `stop` is asked for, or its process (`kill`) or its browser is killed. `again`: it
    is run once more."""

    mode: str = ""
    set: Mapping[str, str] = {}
    more: Sequence[str] = ()
    edit: Sequence[str] = ()
    stop: str = ""
    kill: str = ""
    typed: Sequence[str] = ()
    env: Mapping[str, str] = {}
    again: bool = False


FREE = ("run", "--free", "--url")
STORED = {"RUTTER_RUN_PROOF": "stored"}
CASES: Mapping[str, Case] = {
    "value_not_there": Case(set={"number": "INV-1099"}),
    "option_not_there": Case(set={"status": "overdue"}),
    "page_of_value_gone": Case("gone"),
    "field_keeps_nothing": Case("field_fixed"),
    "field_readonly": Case("readonly"),
    "renamed": Case("renamed"),
    "save_gone": Case("save_gone"),
    "twins": Case("twins"),
    "two_links": Case("two_links"),
    "redirected": Case("redirected"),
    "maintenance": Case("maintenance"),
    "not_to_read": Case(edit=("--extract", "7=total #total")),
    "covered": Case("covered"),
    "dialog": Case("dialog"),
    "signed_out": Case("signed_out"),
    "save_signed_out": Case("save_signed_out"),
    "forbidden": Case("forbidden"),
    "busy": Case("busy"),
    "captcha": Case("captcha"),
    "empty": Case("empty"),
    "elsewhere": Case("elsewhere"),
    "other_form": Case("other_form"),
    "other_form_no": Case("other_form", more=NO),
    "slow": Case("slow"),
    "site_down": Case("down"),
    "save_hangs": Case("save_hangs"),
    "save_hangs_again": Case("save_hangs", again=True),
    "save_fails": Case("save_fails"),
    "save_refused": Case("save_refused"),
    "save_cut": Case("save_cut"),
    "confirm": Case("confirm"),
    "said_otherwise": Case("said_otherwise"),
    "check_fails": Case(edit=("--expect", "7=text_visible:is approved")),
    "not_proven": Case("quiet", edit=("--no-expect", "7"), env=STORED),
    "stopped_loading": Case("slow", stop="GET /invoices"),
    "stopped_saving": Case("save_hangs", stop="POST"),
    "killed_saving": Case("save_hangs", stop="POST", kill="process"),
    "browser_killed": Case("slow", stop="GET /invoices", kill="browser"),
    "free_unknown": Case(typed=(*FREE, f"{SITE}/login", *HERE)),
    "free_value": Case(typed=(*FREE, f"{SITE}/invoices", *HERE)),
}


def script(url: str) -> dict[str, object]:
    def at(kind: str, *ways: str, **more: str) -> dict[str, object]:
        return {"type": kind, "selectors": [[way] for way in ways], **more}

    return {
        "steps": [
            {"type": "navigate", "url": f"{url}/invoices"},
            at("change", "#q", "aria/Number", value="INV-1043"),
            at("click", "aria/Search"),
            at("click", 'aria/INV-1043[role="link"]'),
            at("change", "#amount", "aria/Amount", value="120.00"),
            at("change", "#status", "aria/Status", value="sent"),
            at("click", "#save", "aria/Save"),
        ]
    }


class Maker:
    """A maker records the workflow once, and runs it in a copy of the directory for each case."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.recorded = root / "recorded"
        (root / "yes.json").write_text('[{"approved": true, "phrase": "confirm"}]')
        (root / "no.json").write_text('[{"approved": false, "message": "not this one"}]')
        with BillingSite(PORT) as site:
            (root / "script.json").write_text(json.dumps(script(site.url)))
            params = [part for pair in WATCHED.items() for part in ("--param", "=".join(pair))]
            flags = ("--script", "script.json", *params, *HERE, *YES)
            ended = Rutter(self.recorded)(*self.typed(("record", "invoice", *flags)))
        assert ended.code == 0, ended

    def typed(self, command: Sequence[str]) -> list[str]:
        return [str(self.root / each) if each.endswith(".json") else each for each in command]

    def make(self, name: str, case: Case) -> None:
        data = self.root / name
        shutil.copytree(self.recorded, data)
        rutter = Rutter(data)
        if case.edit:
            edited = rutter("workflows", "edit", "invoice", *case.edit)
            assert edited.code == 0, edited
        sets = [part for pair in case.set.items() for part in ("--set", "=".join(pair))]
        command = case.typed or ("run", "invoice", *sets, *case.more)
        given = [p for pair in {**WATCHED, **case.set}.items() for p in ("--set", "=".join(pair))]
        whole = case.typed or ("run", "invoice", *given, *case.more)
        os.environ.update(case.env)
        try:
            self._run(rutter, self.typed(whole), case)
        finally:
            for each in case.env:
                del os.environ[each]
        write_run(name, f"rutter {' '.join(command)}", _session(data, last=case.again))

    def _run(self, rutter: Rutter, typed: list[str], case: Case) -> Ended | None:
        if case.mode == "down":
            return rutter(*typed)
        with BillingSite(PORT) as site:
            site.mode = case.mode
            if case.stop:
                _stop(rutter, typed, case, site)
            else:
                rutter(*typed)
        if case.again or case.kill == "process":  # what was cut off is closed by the next
            with BillingSite(PORT):
                rutter(*typed)
        return None


def _stop(rutter: Rutter, typed: list[str], case: Case, site: BillingSite) -> None:
    with rutter.spawn(*typed) as process:
        site.await_request(case.stop)
        if case.kill == "browser":
            for child in psutil.Process(process.pid).children(recursive=True):
                if "chrom" in child.name():
                    child.kill()
        else:
            os.kill(process.pid, signal.SIGKILL if case.kill else signal.SIGINT)
        process.communicate(timeout=90)


def _session(data: Path, *, last: bool) -> list[Row]:
    """The run that failed."""
    with SqliteReader(data / "log.db") as reader:
        begun = [each for each in reader.read() if isinstance(each.event, SessionStarted)]
        runs = [each.session for each in begun[1:]]
        wanted = runs[-1 if last else 0]
        return reader.query("SELECT * FROM events WHERE session = ? ORDER BY seq", wanted)


def main(names: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="failures-") as folder:
        maker = Maker(Path(folder))
        for name in names or [each for each in CASES if not (LOGS / f"{each}.gz").exists()]:
            maker.make(name, CASES[name])
            print(name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
