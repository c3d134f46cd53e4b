"""One node: memory, floating-point units, caches and OS noise."""
