"""Text rules find phrases, secrets and orders to models in texts; any actor imports them."""
