"""`python -m actors.egress`: the proxy, told what to do by the process that starts it."""

from actors.egress.proxy import main

if __name__ == "__main__":
    main()
