"""The proxy has names of its own, run by a test in place of the real one.

Each argument is `name=address[,address]`; a name that is given twice has other addresses when it
is asked for again. Nothing else resolves, and every address is dialled as it is.
"""

import sys
from collections import defaultdict
from collections.abc import Sequence

from rutter.actors.world.egress.proxy import main

ANSWERS: dict[str, list[list[str]]] = defaultdict(list)


async def resolve(host: str, port: int) -> Sequence[str]:
    answers = ANSWERS.get(host, [[]])
    return answers.pop(0) if len(answers) > 1 else answers[0]


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        name, _, addresses = argument.partition("=")
        ANSWERS[name].append(addresses.split(","))
    main(resolve)
