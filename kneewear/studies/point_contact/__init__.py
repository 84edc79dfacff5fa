"""Knees with point contacts: models of multibody studies."""
