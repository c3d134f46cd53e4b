"""HPC Challenge."""
