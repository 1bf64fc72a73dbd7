"""The live wall, as a web page: how a viewer gets in, what it is made of, and the socket behind it."""
