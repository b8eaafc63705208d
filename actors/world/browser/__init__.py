"""The browser has one script in the page, one CDP session, a deadline on every call."""
