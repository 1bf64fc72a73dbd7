"""How a browser of this machine is started, attached to, kept alive, and ended; its profile, and its contexts."""
