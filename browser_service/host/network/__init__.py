"""What a page asks of the network, and what it meets there."""
