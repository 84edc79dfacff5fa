"""Tests of bearings of simple geometry, by the contact and the wear laws of knees."""
