"""Sweeps: cases of a plan over any settings, effects and response surfaces."""
