"""Synthesis of measured wear: factors of laboratories, and predictions stored before a search."""
