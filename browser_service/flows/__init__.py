"""Flows: saved from the record of what was done, and run again without a model."""
