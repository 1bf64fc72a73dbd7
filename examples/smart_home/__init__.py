"""Simulates a house with lights, an alarm and people in it, as a site with a login and as a small tool server."""
