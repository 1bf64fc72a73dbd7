"""Browsers and their contexts: started when needed, with their logins, and closed."""
