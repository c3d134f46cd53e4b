"""Renderings for people and programs: one writer a file."""
