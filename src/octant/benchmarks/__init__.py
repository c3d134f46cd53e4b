"""Published benchmarks under their own names, a folder each."""
