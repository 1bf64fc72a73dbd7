"""Tries real gateways with programs that others wrote: the protocol's conformance suites, its Inspector and its
TypeScript clients."""
