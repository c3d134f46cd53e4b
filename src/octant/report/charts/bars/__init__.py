"""Bars and rows: metrics by a choice, phases, ranks, places, ratios, histograms and lost time."""
