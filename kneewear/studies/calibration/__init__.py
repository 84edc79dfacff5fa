"""Constants of the built-in implant and gait, fitted to published cells."""
