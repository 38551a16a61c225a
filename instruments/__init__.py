"""Two instruments that know nothing of the course: algebra checked by the line, arithmetic counted.

`derivation` compares the lines of a derivation, `meter` counts what NumPy code costs, `growth` says
how a cost grows. `formula` and `notation` read what people write, and `patience` stops a function
that runs for ever. `png` writes pictures, and `record` makes frozen dataclasses that load fast.
"""
