"""Holds a service and a gateway of the same libraries as ours that do nothing but pass calls on: what they take is what
the libraries take."""
