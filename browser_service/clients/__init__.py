"""The clients: who is present, their notices, and what they ask of people and of each other."""
