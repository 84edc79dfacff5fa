"""From implant data to bearing surfaces, element grid and lookup tables."""
