"""Sessions over time: their records, and how they are made, kept and ended."""
