"""Frames of a wear study computed by finite elements."""
