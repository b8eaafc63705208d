"""`python -m rutter` is the command line."""

import sys

from rutter.pipeline.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
