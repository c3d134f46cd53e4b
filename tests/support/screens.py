"""A first screen whose every number is written here, for tests of pages: six tiles, three findings and more."""

from octant.advice.findings import RunFinding
from octant.report.screen.answer import Reliability, ReliabilityRow, Tile
from octant.report.screen.first_screen import FirstScreen
from octant.report.strips import ShareBar, Strip

NARROW = "\u202f"

TILES = (
    Tile(
        "Peak", "double precision", "", "129", "Gflop/s", "123 … 136", "",
        f"123 … 136: 95{NARROW}% interval, median of 5 of 6 launches", "note", ("the interval is 5 % wide",),
        Strip((124e9, 127e9, 129e9, 133e9, 134e9), (135e9,), 123e9, 129e9, 136e9, ("124", "135")),
        ShareBar("limit", (("of limit", 0.9),)), f"90{NARROW}% of 144{NARROW}Gflop/s (8 lanes × 2 units × 2 × clock)",
        (f"1 core 66.8{NARROW}Gflop/s", f"single precision 258{NARROW}Gflop/s"), 0,
    ),
    Tile(
        "Memory", "triad, streaming stores", "", "25.7", "GB/s", "24.8 … 26.7", "",
        f"24.8 … 26.7: 95{NARROW}% interval, median of 3 of 6 launches, few", "limited",
        ("18 % of the time was lost",),
        Strip((25.4e9, 25.7e9, 26e9), (25.2e9, 26.1e9, 27.7e9), 24.8e9, 25.7e9, 26.7e9, ("25.2", "27.7")),
        ShareBar("comparison", (("one core", 0.54),)),
        f"54{NARROW}% of it on 1 core",
        (f"plain 19.7{NARROW}GB/s", f"a core: L2 106{NARROW}GB/s", f"L1 271{NARROW}GB/s"), 1,
    ),
    Tile(
        "Latency", "random load, huge pages", "", "164", "ns", "142 … 190", "",
        f"142 … 190: 95{NARROW}% interval, median of 5 of 9 launches", "limited", (),
        Strip((153e-9, 160e-9, 164e-9, 180e-9, 190e-9), (205e-9, 208e-9, 212e-9),
              142e-9, 164e-9, 190e-9, ("153", "212")),
        ShareBar("comparison", (("base pages", 0.7),)),
        f"70{NARROW}% of the 234{NARROW}ns with base pages",
        (f"L1 2.32{NARROW}ns", f"L2 7.29{NARROW}ns", "no plateau of an L3 detected"), 9,
    ),
    Tile(
        "Messages", "8 B in a node, one way", "", "1.51", "µs", "1.41 … 1.60", "",
        f"1.41 … 1.60: 95{NARROW}% interval, median of 6 launches", "limited", (),
        Strip((1.4e-6, 1.41e-6, 1.5e-6, 1.52e-6, 1.58e-6, 1.61e-6), (), 1.41e-6, 1.51e-6, 1.6e-6, ("1.40", "1.61")),
        ShareBar("comparison", (("longest message", 0.19),)),
        f"19{NARROW}% of the best 12.2{NARROW}GB/s, at 512{NARROW}KiB, is left at 4{NARROW}MiB",
        (f"N½ 52{NARROW}KiB", "MPICH 5.0 over shared memory"), 12,
    ),
    Tile(
        "Noise", "share of time lost, 1 core", "", "20", f"{NARROW}% of time", "3 … 39", "",
        f"3 … 39{NARROW}%: single launches; 4 … 34: 95{NARROW}% interval of their median, 6 launches", "limited", (),
        Strip((0.03, 0.05, 0.06, 0.16, 0.27, 0.39), (), 0.04, 0.11, 0.34, ("3", "39")),
        ShareBar("parts", (("other processes", 0.11), ("the host", 0.0), ("unexplained", 0.09))),
        f"other processes 11{NARROW}%, unexplained 9{NARROW}%",
        (f"whole run 24{NARROW}%",), 15,
    ),
    Tile(
        "Balance", "slowest core", "", "even", f"within 10{NARROW}%", "", "",
        f"slowest peak, double: 90 … 101{NARROW}%, 95{NARROW}% interval of 6 pairs", "note", (),
        Strip((0.89, 0.91, 0.94, 0.97, 1.0, 1.01), (), 0.9, 0.96, 1.01, ("89", "101")),
        ShareBar("comparison", (("slowest over fastest", 0.96),)), "no difference between cores detected in 4 tests",
        (f"triad 99{NARROW}%", f"load 98{NARROW}%", f"dgemm 87{NARROW}%"),
    ),
)  # fmt: skip

FINDINGS = (
    RunFinding(
        "lost time", f"Other processes took 24{NARROW}% of this run's time",
        f"89 of 357 measurements lost over half of their time; they are excluded; the widest interval is "
        f"16{NARROW}% wide. Find it, then measure again.",
        ("octant doctor", "octant evaluate --quick"),
    ),
    RunFinding(
        "pages", "Huge pages: random loads 1.4 × as fast",
        f"234{NARROW}ns become 164{NARROW}ns at 256{NARROW}MiB; from 2 to 8{NARROW}MiB they bring under × 1.1, "
        "within L1 nothing. Takes effect in processes started after it.",
        ("export GLIBC_TUNABLES=glibc.malloc.hugetlb=1",),
    ),
    RunFinding(
        "message fall", f"Large messages fall to 19{NARROW}% of their best rate",
        f"12{NARROW}GB/s at 512{NARROW}KiB, 2.4{NARROW}GB/s at 4{NARROW}MiB, where the buffers leave L2. "
        "Send pieces, or look closer.",
        ("octant run p2p bytes=512KiB,1MiB,4MiB buffers=hot,rotating",),
    ),
    RunFinding("far from a limit", f"Matrix multiply reaches 57{NARROW}% of its limit", "Of 6 launches.",
            ("octant where",)),
)  # fmt: skip

SCREEN = FirstScreen(
    f"Two cores reached 129{NARROW}Gflop/s (double precision) and 25.7{NARROW}GB/s memory bandwidth (5.0 flop/byte).",
    Reliability(
        "limited",
        f"Memory: 3 of 6 launches excluded (and 3 more tiles). 24{NARROW}% of the CPU time was lost.",
        (
            ReliabilityRow("Time lost", "24 % on average, 93 % at most", "89 of 357 measurements do not count"),
            ReliabilityRow("Launches", "6 rounds over 17 minutes", "intervals hold for this period"),
        ),
    ),
    TILES,
    FINDINGS,
    tuple(f"check {number} is in order" for number in range(16)),
    identity=(
        f"vm: AMD EPYC, 2 cores, 23.5{NARROW}GiB, KVM guest",
        "evaluate --quick · 25 November 2026, 08:45 – 09:02 UTC · run 20261126-164456",
    ),
)
