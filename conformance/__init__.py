"""Tests real gateways with programs by others: the protocol's conformance suites, its Inspector and its TypeScript
clients."""
