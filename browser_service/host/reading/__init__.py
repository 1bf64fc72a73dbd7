"""Writes what a page shows for a model: trees, outlines, text, tables, and the changes between two trees."""
