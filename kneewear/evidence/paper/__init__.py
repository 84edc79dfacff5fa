"""Figures and tables of the source documents."""
