"""Runs of a user's program: its command line filled in, what is read from its output, whether its answer is right."""
