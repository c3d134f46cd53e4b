"""MPI communication."""
