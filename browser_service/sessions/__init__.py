"""Sessions: creating, storing and ending them, and who may use each."""
