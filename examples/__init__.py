"""Sites to browse, shared by the demo, the tests and the tutorial."""
