"""Curves and histograms as data."""
