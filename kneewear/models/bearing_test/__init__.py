"""Wear tests of bearings of simple geometry."""
