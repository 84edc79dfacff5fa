"""Motion of the knee: equilibrium, forward dynamics, alignment, laxity, and systems of bodies."""
