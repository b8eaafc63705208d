"""`python -m rutter.actors.world.egress`: the proxy, told what to do by the process that starts
it."""

from rutter.actors.world.egress.proxy import main

if __name__ == "__main__":
    main()
