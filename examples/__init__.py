"""Holds sites to browse, which the demo, the tests and the tutorial share."""
