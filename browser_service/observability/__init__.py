"""What operators see: logs, metrics, and the record of activity."""
