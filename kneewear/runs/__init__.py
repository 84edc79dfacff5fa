"""What happens around the run of a study: jobs, checks before it, provenance, finished studies."""
