"""Knees that find their own motion: bodies, contacts, soft tissue, and models of other groups."""
