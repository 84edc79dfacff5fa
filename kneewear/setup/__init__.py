"""What `kneewear new` does: files recognised, settings written."""
