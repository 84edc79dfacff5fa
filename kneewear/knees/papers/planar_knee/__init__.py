"""Planar knee under eight contact laws (Machado thesis, chapter 5)."""
