"""The attacks beside which a neighbour is measured, by where they come from."""
