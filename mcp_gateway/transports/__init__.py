"""The network doors of a gateway: each makes connections, and a connection does not know which door it came by."""
