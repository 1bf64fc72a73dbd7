"""Has the platform start the service at login."""
