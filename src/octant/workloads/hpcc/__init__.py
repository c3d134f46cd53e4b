"""HPC Challenge: its seven tests, by its definitions."""
