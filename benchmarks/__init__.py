"""Side by side with plain Playwright and with a peer: `python -m benchmarks [NAME ...] [--quick] [--json FILE]`."""
