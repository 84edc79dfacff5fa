"""Contact simulations of the built-in or any other activity."""
