"""Brings a page back after a crash, parking, or its closing."""
