"""Sets this installation up in chat clients, and takes it away again."""
