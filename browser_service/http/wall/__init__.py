"""The live wall as a web page: how viewers get in, its files, and the socket behind it."""
