"""`rutter forget` unlearns a session or a workflow. The log keeps what happened."""

import shlex
from collections.abc import Iterator

from rutter.pipeline.cli.terminal import Options, Terminal, count
from rutter.pipeline.cli.workflow_changes import changing
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.queries.workflows_and_sessions import find_session
from rutter.pipeline.workflows.forget import ForgetTarget, Unlearned, foresee

TOLD = ("sessions", "transitions", "runs", "versions", "kept", "generation", "workflow")


def forget(options: Options, settings: Settings, terminal: Terminal) -> None:
    if options.workflow is not None:
        wanted = ForgetTarget(workflow=options.workflow)
    else:
        wanted = ForgetTarget(session=find_session(settings, options.session))
    if options.dry_run:
        found = foresee(settings.directory, wanted)
    else:
        with changing(settings) as writer:
            found = writer.forget(wanted, options.why.strip())
    if terminal.as_json:
        told = {name: getattr(found, name) for name in TOLD}
        terminal.json({**told, "dry_run": options.dry_run})
    terminal.say(*_lines(found, settings, dry=options.dry_run))


def _lines(found: Unlearned, settings: Settings, *, dry: bool) -> Iterator[str]:
    what = f"workflow {found.workflow}" if found.workflow else found.sessions[0]
    yield f"[OK] {'would forget' if dry else 'forgot'} {what}: {_taught(found)}"
    if found.workflow:
        for session in found.sessions:
            yield f"     {session}"
    if found.versions:
        yield f"     no longer known: {', '.join(found.versions)}"
    if found.kept:
        yield f"     still known, from elsewhere: {', '.join(found.kept)}"
    for name in dict.fromkeys(version.rpartition(" version ")[0] for version in found.kept):
        whole = settings.command(f"forget --workflow {shlex.quote(name)}")
        yield f"     to forget all of it: {whole}"
    if dry:
        yield f"     nothing was changed; the model would be generation {found.generation}"
        return
    yield f"     the model is generation {found.generation} now"
    session = found.sessions[0] if len(found.sessions) == 1 else "SESSION"
    erase = settings.command(f"log erase {session} --why TEXT")
    yield f"     the log still has what happened; that goes with: {erase}"


def _taught(found: Unlearned) -> str:
    counts = (
        (len(found.sessions) if found.workflow else 0, "session"),
        (found.transitions, "transition"),
        (len(found.versions), "workflow version"),
        (found.runs, "verified run"),
    )
    told = [count(number, what) for number, what in counts if number]
    return ", ".join(told) or "it had taught nothing"
