"""The network transports of a gateway. Each makes connections, which do not know what carries them."""
