"""The seven tests of HPC Challenge."""
