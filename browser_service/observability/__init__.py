"""Shows operators what happens: logs, figures, and the record of activity."""
