"""`rutter serve` runs the daemon; `stop`, `pause` and `resume` talk to it."""

from collections.abc import Callable
from functools import partial

from rutter.events.errors import BadInput
from rutter.pipeline.cli.daemon_client import require_daemon
from rutter.pipeline.cli.terminal import Options, Terminal
from rutter.pipeline.config.settings import Settings, environment
from rutter.pipeline.daemon import user_unit
from rutter.pipeline.queries.workflows_and_sessions import find_session


def serve(options: Options, settings: Settings, terminal: Terminal) -> None:
    """Until Ctrl-C or SIGTERM."""
    # Here and not above: a command that only reads need not know how to serve.
    from rutter.pipeline.daemon.browsers.process_groups import run_apart
    from rutter.pipeline.daemon.notify.service_log import Logbook, to_stderr
    from rutter.pipeline.daemon.serve import serve_until_stopped

    if options.port is not None and not 0 <= options.port <= 65_535:
        raise BadInput(f"{options.port} is no port", "give one from 0 to 65535")
    if options.install or options.uninstall:
        _install(options, settings, terminal)
        return
    logbook = Logbook(to_stderr, as_json=terminal.as_json or not terminal.err.is_terminal)

    def ready(url: str, link: Callable[[], str]) -> None:
        terminal.answer({"url": url, "data": str(settings.data)})
        # Where somebody reads it, and not in what a service manager keeps.
        pages = f"; its pages, once: {url}{link()}" if terminal.out.is_terminal else ""
        terminal.say(f"[OK] serving on {url}; tokens in {settings.data}; Ctrl-C stops it{pages}")

    async def run() -> None:
        logbook.take_over()
        await serve_until_stopped(
            settings,
            host=options.bind or "",
            port=options.port,
            exposed=options.bind is not None,
            logbook=logbook,
            ready=ready,
        )

    run_apart(run())


def _install(options: Options, settings: Settings, terminal: Terminal) -> None:
    """Whatever the manager did not take is said, to be typed."""
    given = {"--port": options.port, "--bind": options.bind}
    more = [word for flag, value in given.items() if value is not None for word in (flag, value)]
    more += ["--headed"] if options.headed else []
    env, place = environment(), str(user_unit.place_of(environment()))
    if options.uninstall:
        left = user_unit.remove(env)
    else:
        left = user_unit.install(settings, [str(each) for each in more], env)
    terminal.answer({"unit": place, "left": left})
    done, runs = ("removed", "stopped") if options.uninstall else ("wrote", "runs")
    if left:
        terminal.say(f"[OK] {done} {place}")
        terminal.say_below("no systemd of this user answered; type, where one does:", *left)
    else:
        terminal.say(f"[OK] {done} {place}; the daemon {runs}")
    if not options.uninstall:
        terminal.say_below("to run it while you are not logged in: loginctl enable-linger")


# -- talking to it ---------------------------------------------------------------------------------


def _tell(word: str, options: Options, settings: Settings, terminal: Terminal) -> None:
    daemon = require_daemon(settings)
    session = find_session(settings, options.session)
    told = daemon.request("POST", f"/sessions/{session}/{word}")
    terminal.answer(told)
    terminal.say(f"[OK] {session}: {told['reason']} {told.get('detail', '')}".rstrip())


stop, pause, resume = (partial(_tell, word) for word in ("stop", "pause", "resume"))
