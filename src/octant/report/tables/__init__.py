"""Tables for the terminal and for pages: figures, published benchmarks, runs, suites and workloads."""
