"""File I/O of one host."""
