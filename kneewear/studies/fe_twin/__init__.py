"""Finite-element twins: chosen frames of a study computed by finite elements of the insert."""
