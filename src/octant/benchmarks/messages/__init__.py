"""Patterns of the MPI benchmarks under the names of IMB and OSU, with their tables."""

from octant.benchmarks import Benchmark, BenchmarkOption

BENCHMARK = Benchmark(
    title="the MPI benchmarks",
    help="Measure MPI patterns and print tables like those of IMB or OSU.",
    command="mpi",
    aliases=("imb", "imb-*", "osu", "osu_*", "osu-*", "omb"),
    options=(
        BenchmarkOption(
            "[PATTERN|KNOB=VALUE]...", "Patterns: PingPong, Allreduce, osu_latency, … [default: a selection]."
        ),
        "ranks",
        BenchmarkOption("--sizes", "Message lengths: 8,64KiB, or 0:4MiB for powers of two."),
        BenchmarkOption("--multi", "Use all ranks at the same time, in groups of each process count.", False),
        "repeats",
        "launcher",
        "hosts",
        "link",
        "mpi",
        "only_safe",
        BenchmarkOption(
            "--as", "Table format: imb, osu or octant (medians).", "imb", ("imb", "osu", "octant"), measures=False
        ),
        BenchmarkOption("--list", "List the patterns and their names, and exit.", False, measures=False, instead=True),
        BenchmarkOption("--faults", "List known bugs of MPI libraries and exit.", False, measures=False, instead=True),
    ),
    launches=None,
    examples={
        "mpi": (
            ("octant mpi", "a selection of patterns, in IMB's format"),
            ("octant mpi PingPong --sizes 0:1MiB --as osu", "one pattern, in OSU's format"),
            ("octant mpi osu_latency buffers=rotating", "OSU's name, with a knob of the workload"),
            ("octant mpi --list", "list all patterns and their names"),
        )
    },
)
