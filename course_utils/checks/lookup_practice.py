"""Unit 07: what the sister tasks in lookup.md need."""

SHARP = [0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
