"""What is kept of a page while it happens: its console, videos, traces."""
