"""Static studies."""
