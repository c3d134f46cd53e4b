"""Profiles of MPI programs: files of processes, their merging, and what follows from them."""
