"""Muscle string over obstacles (Vondrak et al.)."""
