"""Knee with spheres on planes that flexes under gravity (Machado thesis, chapter 6)."""
