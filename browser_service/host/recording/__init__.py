"""Records a page while it happens: its console, videos, traces."""
