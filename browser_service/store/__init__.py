"""The journal: the only SQL; artifacts."""
