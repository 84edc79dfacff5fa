"""Studies: plans of cases, what a case needs, and the loop that computes them."""
