"""Settings of studies, checked."""
