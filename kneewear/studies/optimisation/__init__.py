"""Optimisation: generations of designs, their evaluation, and the front of the best ones."""
