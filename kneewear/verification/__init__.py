"""The engine against analytical solutions and against itself."""
