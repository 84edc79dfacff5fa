"""Wear, creep and damage of the insert over a life of mixed activities."""
