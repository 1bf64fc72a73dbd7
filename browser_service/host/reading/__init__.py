"""What a page shows, written for a model: trees, outlines, text, tables, and what changed between two of them."""
