"""Serves the clients: who is present, what each is told, and what they ask of people and of each other."""
