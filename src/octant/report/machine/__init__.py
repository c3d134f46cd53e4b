"""A machine, its settings, and advice on it."""
