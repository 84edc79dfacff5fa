"""Dynamic finite-element knee that falls on an obstacle (Sander et al. 2012)."""
