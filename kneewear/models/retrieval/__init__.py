"""Wear of a retrieved or tested insert, from scans of its surface."""
