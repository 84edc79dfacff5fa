"""Elastic and elastic-plastic solids that rigid bodies press on, by finite elements."""
