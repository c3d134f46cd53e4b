"""Placements asked for and seen."""
