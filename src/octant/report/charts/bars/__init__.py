"""Bars and rows: metrics by a choice, phases, ranks, places, ratios and lost time."""
