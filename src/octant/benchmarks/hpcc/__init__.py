"""HPC Challenge: its tests in one run, with figures under its names."""

from octant.benchmarks import Benchmark, BenchmarkOption

BENCHMARK = Benchmark(
    title="HPC Challenge",
    short="HPCC",
    help="Measure the tests of HPC Challenge, and print their figures under HPCC's names.",
    options=(
        BenchmarkOption("--quick/--full", "Minutes, or HPCC's own sizes.", True),
        BenchmarkOption("--size", "hpl:N, the order of HPL's matrix; all other sizes follow."),
        "ranks",
        "repeats",
        "launcher",
        "hosts",
    ),
    timeouts_s=(600.0, 6 * 3600.0),  # what a repetition and its checks take grows with N, not with a budget
    notes=("Units are those of HPCC's names, of STREAM and PTRANS GB/s; a star figure is that of one rank.",),
    examples={
        "hpcc": (
            ("octant hpcc", "all tests in minutes, under HPCC's names"),
            ("octant hpcc --full", "with HPCC's own sizes: most of memory"),
            ("octant hpcc --size hpl:4096 -n 2", "sizes that follow from this N, on two ranks"),
            ("octant hpcc --run last", "the table of a stored run again"),
        ),
        "export": (("octant export hpcc last", "HPC Challenge's summary, for its scripts"),),
        "model hpcc": (
            ("octant model hpcc power775 --nodes 1944", "beside what was published of it"),
            ("octant model hpcc --run last --nodes 8,64,1944", "many nodes like the one that a run measured"),
        ),
    },
    predicted=True,
)
