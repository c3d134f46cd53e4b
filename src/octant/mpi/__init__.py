"""MPI libraries: their settings, what a probe proves of these, and their known faults."""
