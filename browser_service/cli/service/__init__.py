"""The start of the service at login, by each platform's own means."""
