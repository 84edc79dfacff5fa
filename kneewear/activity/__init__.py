"""Motion and load of one cycle of an activity."""
