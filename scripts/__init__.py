"""What keeps the project in order: run by make, not part of the product."""
