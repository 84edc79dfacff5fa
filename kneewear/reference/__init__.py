"""Analytical solutions and published results to compare with; imports nothing of ours."""
