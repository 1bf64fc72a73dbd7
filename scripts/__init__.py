"""The scripts that make runs to maintain the project. They are no part of the product."""
