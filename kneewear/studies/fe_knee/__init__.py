"""Dynamic finite-element knee: its bones, its steps in time, and what is stated of them."""
