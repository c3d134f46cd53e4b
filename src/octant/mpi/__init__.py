"""MPI libraries: settings, verification of settings by a probe, and known bugs."""
