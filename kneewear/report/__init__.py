"""Figures and the page of a study."""
