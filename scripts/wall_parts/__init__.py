"""Shows each part of the wall in each state, light and dark, to whoever works on it: `python -m scripts.wall_parts`."""
