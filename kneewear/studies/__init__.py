"""Kinds of study."""
