"""Requested and observed placements."""
