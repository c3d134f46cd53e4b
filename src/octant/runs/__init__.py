"""Requests as launches, and their records in the store."""
