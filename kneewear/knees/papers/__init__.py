"""Models of other groups, computed again: outside the core, which finds them by name only."""
