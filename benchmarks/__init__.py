"""Compares the product with plain Playwright and with a peer: `python -m benchmarks [NAME ...] [--quick] [--json
FILE]`."""
