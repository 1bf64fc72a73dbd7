"""Holds the scripts that make runs to keep the project in order. They are no part of the product."""
