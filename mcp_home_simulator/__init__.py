"""Simulates a house with lights, an alarm and a presence detector: six tools in JSON lines."""
