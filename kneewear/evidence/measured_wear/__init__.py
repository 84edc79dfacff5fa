"""Wear measured in tests of bearings, beside predicted wear."""
