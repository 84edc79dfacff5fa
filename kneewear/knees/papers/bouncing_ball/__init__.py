"""The bouncing ball of Machado's thesis (section 6.5.1): contact by lookup tables."""
