"""The world is browser, network, models, secrets and files; only effectors and `pipeline` import
it."""
