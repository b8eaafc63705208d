"""`python -m rutter.actors.world.egress` runs the proxy for the process that starts it."""

from rutter.actors.world.egress.proxy import main

if __name__ == "__main__":
    main()
