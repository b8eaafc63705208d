"""The egress gate lets the browser out by our own proxy, which judges every request by policy."""
