"""Cohorts: subjects and designs, distributions of wear, and who is outside validity."""
