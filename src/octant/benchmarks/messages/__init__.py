"""Patterns of messages, under the names of IMB and OSU."""
