"""Knee extension by the quadriceps (Caruntu and Hefzy 2004)."""
