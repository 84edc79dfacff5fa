"""Public test set of worn inserts with known wear."""
