"""From a selector to an element, what is done to it, and why it could not be."""
