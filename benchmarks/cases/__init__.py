"""Open benchmark set: cases of contact, dynamics, ligaments and wear, and a runner."""
