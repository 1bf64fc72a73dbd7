"""The live wall: who may look, what they see, and the page with its socket."""
