"""Holds one page: its lasting record, its live tab, and how it is observed, recovered and parked."""
