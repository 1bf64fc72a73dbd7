"""Registers this installation in chat clients, and removes it again."""
