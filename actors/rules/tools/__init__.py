"""Tool rules describe the tools of callers and check their arguments; any actor imports them."""
