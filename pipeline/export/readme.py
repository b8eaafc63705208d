"""A README says what is in an export of everything, for whoever opens it years later."""

README = """Everything that rutter kept here.
Workflows: {workflows}. Sessions: {sessions}. Artifacts: {artifacts}.

workflows/NAME/version-N.json    every version, as rutter knows it
workflows/NAME/recorder.json     the newest, for Chrome's DevTools Recorder
workflows/NAME/playwright.py     the newest, as a Python script for Playwright
                                 (a .txt in the place of one says why it could not be written)
sessions/sessions.jsonl          every session with its steps, one JSON object a line
sessions/sessions.csv            every session in one line
sessions/steps.csv               every step: what was done and what came of it
sessions/results.csv             what was read: session, workflow, name, value
artifacts/index.csv              every picture and file: which event names it, its SHA-256, where it
                                 is here; expired: it went by a rule (keep.* in the configuration);
                                 gone: it is missing
artifacts/SESSION/...            the pictures and files themselves; the number is the event
transitions.csv                  what was learned: what follows what, and how often
metrics.json                     how well it does, and what language models cost
configuration.json               every setting and who said it
log.rutter                       the log itself: every event with its chain of hashes, a plain zip;
                                 rutter --data DIR log import log.rutter makes it a log again

Left out, because they open something: the tokens of the daemon, kept logins, and the values of
secrets. Of a secret only its name is kept anywhere, and here also where it is read from; of an
address that is told of events only its host. Where a text begins with =, +, - or @, the tables have
a ' before it, so that no spreadsheet takes it for a formula.
"""


def readme(workflows: int, sessions: int, artifacts: int) -> str:
    return README.format(workflows=workflows, sessions=sessions, artifacts=artifacts)
