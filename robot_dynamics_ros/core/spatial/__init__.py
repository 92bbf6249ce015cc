"""Rotations, transforms and inertias; this folder knows no robot."""
