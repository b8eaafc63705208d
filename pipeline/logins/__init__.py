"""Logins outlast a session: what a browser knows of who is signed in, kept encrypted by origin."""
