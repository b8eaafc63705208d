"""Logins last: what a browser knows of whoever is signed in, kept encrypted for one origin.

sealed_file     one login as the bytes of its file
sealing_key     what it is sealed with: from the keyring, or from a passphrase
login_store     the files, one for each origin
session_logins  the logins that a session takes along
sign_in_window  a window in which a person signs in
"""
