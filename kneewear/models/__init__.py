"""Slices: one folder for each model of a study, found by name and imported by nothing."""
