"""The logic version is pinned in every session.

It changes when equal facts may lead to other decisions: a log then says which logic made it, and
replay under another one says so instead of calling it a divergence.
"""

LOGIC = "8"
