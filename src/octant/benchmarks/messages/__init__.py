"""Patterns of the MPI benchmarks under the names of IMB and OSU, with their tables."""

from octant.benchmarks import Benchmark, BenchmarkOption

BENCHMARK = Benchmark(
    title="the MPI benchmarks",
    help="Measure patterns of the MPI benchmarks, and print their tables as IMB or OSU do.",
    command="mpi",
    options=(
        BenchmarkOption("[PATTERN|KNOB=VALUE]...", "PingPong, Allreduce, osu_latency, …; none: the usual ones."),
        "ranks",
        BenchmarkOption("--sizes", "Message lengths: 8,64KiB, or 0:4MiB by powers of two."),
        BenchmarkOption("--multi", "All ranks at once, in groups of each process count.", False),
        "repeats",
        "launcher",
        "hosts",
        "link",
        "mpi",
        "only_safe",
        BenchmarkOption(
            "--as", "Whose table: imb, osu or octant (medians).", "imb", ("imb", "osu", "octant"), measures=False
        ),
        BenchmarkOption("--list", "List the patterns and their names instead.", False, measures=False, instead=True),
        BenchmarkOption("--faults", "List known faults of MPI libraries instead.", False, measures=False, instead=True),
    ),
    launches=None,
    examples={
        "mpi": (
            ("octant mpi", "the usual patterns, as IMB prints them"),
            ("octant mpi PingPong --sizes 0:1MiB --as osu", "one of them, as OSU prints it"),
            ("octant mpi osu_latency buffers=rotating", "by OSU's name, with a knob of the workload"),
            ("octant mpi --list", "all patterns and their names"),
        )
    },
)
