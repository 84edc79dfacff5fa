"""Angles, frames and poses of the two components, what moves them, and equations of motion."""
