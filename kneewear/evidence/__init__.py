"""Evidence: verification, finite-element comparison, published tables, calibration, credibility."""
