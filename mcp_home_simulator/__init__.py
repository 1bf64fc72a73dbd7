"""Simulates a house with lights, an alarm and a detector of presence, as six tools in JSON lines."""
