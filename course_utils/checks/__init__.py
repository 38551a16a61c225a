"""What is asked: one module a unit, one short function an exercise."""
