"""HPC Challenge: its tests in one run, with figures under its names."""

from octant.benchmarks import Benchmark, BenchmarkOption

BENCHMARK = Benchmark(
    title="HPC Challenge",
    short="HPCC",
    aliases=("hpc-challenge", "hpcchallenge"),
    help="Measure the tests of HPC Challenge under HPCC's names.",
    options=(
        BenchmarkOption("--quick/--full", "Use small sizes (minutes), or HPCC's own sizes.", True),
        BenchmarkOption("--size", "Order of HPL's matrix as hpl:N; all other sizes follow from it."),
        "ranks",
        "repeats",
        "launcher",
        "hosts",
    ),
    timeouts_s=(600.0, 6 * 3600.0),  # the time of a repetition and its checks grows with N
    notes=("Units follow HPCC's names (STREAM and PTRANS: GB/s). Star figures are per rank.",),
    examples={
        "hpcc": (
            ("octant hpcc", "all tests, a few minutes"),
            ("octant hpcc --full", "HPCC's own sizes, which use most of memory"),
            ("octant hpcc --size hpl:4096 -n 2", "sizes for this N, two ranks"),
            ("octant hpcc --run last", "print the table of a stored run"),
        ),
        "export": (("octant export hpcc last", "summary in the format of HPC Challenge"),),
        "model hpcc": (
            ("octant model hpcc power775 --nodes 1944", "predicted and published results"),
            ("octant model hpcc --run last --nodes 8,64,1944", "nodes like the one that the run measured"),
        ),
    },
    predicted=True,
)
