"""Contact under an axial load, at one position or along a path."""
