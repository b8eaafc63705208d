"""`rutter open` opens the daemon's web pages with a link that works once, or closes them."""

import webbrowser

from rutter.pipeline.cli.daemon_client import DaemonClient, require_daemon
from rutter.pipeline.cli.terminal import Options, Terminal, count
from rutter.pipeline.config.settings import Settings


def open_pages(options: Options, settings: Settings, terminal: Terminal) -> None:
    daemon = require_daemon(settings)
    if options.revoke:
        told = daemon.request("DELETE", "/web/sessions")
        terminal.answer(told)
        terminal.say(f"[OK] {count(told['ended'], 'open web session')} ended")
        return
    link = link_of(daemon)
    terminal.answer({"link": link})
    if options.print or not webbrowser.open(link):
        terminal.say(link)
        terminal.say_below("it opens the pages once, within ten minutes")
    else:
        terminal.say("[OK] opened in your browser; rutter open --print shows a link instead")


def link_of(daemon: DaemonClient) -> str:
    return daemon.url + str(daemon.request("POST", "/web/links")["path"])
