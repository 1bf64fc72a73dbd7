"""Starts the service at login, by the means of each platform."""
