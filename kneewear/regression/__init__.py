"""Trends over the cases of a study: fits, correlations, comparison with published values."""
