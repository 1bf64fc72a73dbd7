"""Shows operators what happens: logs, figures, the record of activity, and notifications."""
