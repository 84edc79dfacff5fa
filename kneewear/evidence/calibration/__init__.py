"""Fits of the built-in implant and gait to published cells."""
