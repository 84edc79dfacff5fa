"""Settings of multibody studies."""
