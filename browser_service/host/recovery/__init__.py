"""How a page comes back: from a crash, from parking, from being closed."""
