"""What a call passes: admission, and what surrounds an act, in the order of `order.py`."""
