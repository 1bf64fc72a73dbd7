"""What surrounds an act: a small class for each concern, in the order of `order.py`."""
