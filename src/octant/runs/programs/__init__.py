"""Runs of a user's program: placeholders of the command line, values of its output, and checks of its results."""
