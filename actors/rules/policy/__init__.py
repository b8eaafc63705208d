"""Policy rules say what may be done and whom the browser may reach; any actor imports them."""
