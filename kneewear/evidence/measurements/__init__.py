"""Measurements of a user: compression of a material, and pressures of a bearing."""
