"""Grading a class: student code runs in a sandbox, and is judged in a process it never touches."""
