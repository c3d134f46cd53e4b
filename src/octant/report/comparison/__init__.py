"""Comparisons of two runs: what is stated, for the terminal, programs and as a page."""
