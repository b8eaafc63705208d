"""Speed is never asserted here: a busy machine is no failure of a property."""

from hypothesis import settings

settings.register_profile("rutter", deadline=None)
settings.load_profile("rutter")
