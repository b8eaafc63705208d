"""Logins that last: what a browser knows of whoever is signed in, kept encrypted for one origin.

sealing   one login as the bytes of its file
keys      what it is sealed with: from the keyring, or from a passphrase
shelf     the files, one for each origin
carrying  the logins that a session takes along
by_hand   a window in which a person signs in
"""
