"""The entry point parses, runs the command, and turns every error into one line and an exit
code."""

import os
import sys
from collections.abc import Sequence

from rutter.events.errors import RutterError
from rutter.pipeline.cli.completion import answer_tab
from rutter.pipeline.cli.parser import parser
from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.config import exit_codes, settings
from rutter.pipeline.output.redacted_streams import hush_streams


def main(arguments: Sequence[str] | None = None) -> int:
    hush_streams()
    os.umask(0o077)  # what is written is its owner's alone: exports and reports too
    answer_tab(parser())
    options = parser().parse_args(arguments)
    terminal = Terminal(as_json=options.json, verbose=options.verbose)
    try:
        headed = getattr(options, "headed", False)
        loaded = settings.load(options.data, headless=not headed, config=options.config)
        if headed:
            settings.check_display(settings.environment(), "leave out --headed")
        return int(options.do(options, loaded, terminal) or exit_codes.Exit.DONE)
    except RutterError as error:
        terminal.error(error)
        return exit_codes.of_error(error)
    except BaseExceptionGroup as group:
        ours: BaseException | None = group.subgroup(RutterError)
        while isinstance(ours, BaseExceptionGroup):  # the first of them, in whatever bundle
            ours = ours.exceptions[0]
        if not isinstance(ours, RutterError):
            raise
        terminal.error(ours)
        return exit_codes.of_error(ours)
    except KeyboardInterrupt:
        terminal.note("rutter: interrupted")
        return exit_codes.Exit.INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has gone; there is no one to tell
        return exit_codes.Exit.DONE


if __name__ == "__main__":
    sys.exit(main())
