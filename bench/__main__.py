"""`python -m bench [NAME ...]` runs all benches, or the named ones."""

import argparse
import importlib
import os
import platform

# In the order from the cheapest to what needs a browser.
BENCHES = {
    "append": "the log: appends per second against a raw sqlite3 loop",
    "pipeline": "events through the six actors per second, with scripted effects",
    "states": "what state a page is in, by all rules",
    "policy": "one verdict of the policy's table",
    "foresight": "what comes next, against markov2, back-off and Kneser-Ney",
    "pages": "what the page adds to the history, on made-up sites",
    "memory": "resident memory without the browser",
    "replay": "deciding again and folding, events per second",
    "million": "a log of a million events: opening, folding, and predicting while sessions run",
    "traces": "span export: CPU from the log's events to OTLP bytes",
    "snapshot": "one look at small and large pages, against Playwright's aria snapshot",
    "tokens": "what a model reads: pages and a conversation, in tokens and money",
    "click": "one click that does not navigate, against Playwright's",
    "live": "pictures of a page that moves, as whoever watches gets them",
    "egress": "page loads through the gate's proxy against direct ones",
    "flow": "a whole workflow on the bundled site against plain Playwright",
    "django": "19 steps in Django's admin (which is installed), against plain Playwright",
    "daemon": "20 sessions at once in the daemon, against plain Playwright scripts; memory",
    "sailing": "five workflows recorded over and over: what is foreseen, and done alone",
    "models": "a way found once and sailed for nothing: model calls, money, how often it is right",
}


def main() -> None:
    about = "\n".join(f"  {name:9} {what}" for name, what in BENCHES.items())
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description=f"Each figure as a ratio to its limit in the same run.\n\n{about}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="which ones; all by default")
    names = parser.parse_args().names or list(BENCHES)
    for name in names:
        if name not in BENCHES:
            parser.error(f"no bench {name!r}; there are: {', '.join(BENCHES)}")
    print(f"Python {platform.python_version()}, {platform.machine()}, {platform.system()}", end="")
    print(f", {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before anything was measured")
    for name in names:
        print(f"\n== {name}: {BENCHES[name]}", flush=True)
        importlib.import_module(f"bench.{name}").main()


if __name__ == "__main__":
    main()
