"""How a program reaches the browser service: it finds or starts one, proves who it is, and calls it."""
