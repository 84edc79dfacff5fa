"""The contact engine and the wear against analytical solutions."""
