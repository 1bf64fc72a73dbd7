"""Things to browse: sites that the demo, the tests and the tutorial share."""
