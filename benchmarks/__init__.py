"""Timings of the stages of a study."""
