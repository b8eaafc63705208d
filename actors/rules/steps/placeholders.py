"""A placeholder names a parameter inside a text: `${customer}`."""

import re

PLACEHOLDER = re.compile(r"\$\{(\w+)\}")
