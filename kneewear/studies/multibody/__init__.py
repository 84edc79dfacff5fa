"""Multibody studies."""
