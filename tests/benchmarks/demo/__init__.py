"""A benchmark of a test: `test_one_folder.py` copies this folder to those of Octant."""

from octant.benchmarks import Benchmark

BENCHMARK = Benchmark(title="Demonstration", help="Measure the demonstration.", short="Demo", predicted=True)
