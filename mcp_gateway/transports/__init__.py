"""The network transports of a gateway. Each makes connections, which do not depend on their transport."""
