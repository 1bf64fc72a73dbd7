"""Pages under their pageIds, whatever tab is behind each."""
