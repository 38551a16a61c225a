"""One thread for a process that computes with small matrices: several would wait for each other."""

# On a busy machine the libraries' own threads made training ten times as slow.
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}
