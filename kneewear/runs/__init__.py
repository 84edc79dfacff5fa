"""Surroundings of a run: jobs, checks before it, provenance, finished studies."""
