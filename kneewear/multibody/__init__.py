"""Systems of bodies with contact, tissues and loads: equilibrium and dynamics."""
