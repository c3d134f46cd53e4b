"""Findings of random runs: sentences without nonsense, lines that can be read, gains with intervals."""

import ctypes
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

import command_lines
from found_run import Cell, found_run, taken
from octant.advice.findings import KINDS, RunFinding, findings, first_of, review
from octant.advice.findings._thresholds import (
    HUGE_PAGE_DEFAULT_SINCE,
    HUGE_PAGE_TUNABLE_SINCE,
    LEAST_PAIRS,
    NOTHING_BELOW,
)
from octant.advice.findings.pages import HEAP
from octant.analysis.summary import Summary
from octant.stats import Caveat, Grade

SHARES = (0.0, 0.004, 0.0101, 0.06, 0.4, 0.9)
LABELS = ("made up, one core", "x", "a, b, c", "multiply <n>", "名前")
MIDDLES = (0.0, 1e-9, 3e-7, 2e-3, 1.0, 4e7, 1.2e10, 3e14)
LENGTHS = (1, 8, 4096, 2**20, 2**22)


def launches(draw: Random) -> list[float]:
    """Values of one cell's launches: about one value, all over the place, or nothing."""
    middle, spread = draw.choice(MIDDLES), draw.choice([0.0, 0.001, 0.2, 3.0])
    return [middle * 10 ** (spread * draw.uniform(-1, 1)) for _ in range(draw.randint(1, 7))]


def some_cells(draw: Random) -> list[Cell]:
    """Ladders by pages, messages by length, and rates with a limit, of any values."""
    found = []
    caveats = tuple(Caveat("drift", grade, "drifts") for grade in (Grade.NOTE, Grade.LIMITED) if draw.random() < 0.1)
    for size in draw.sample(["8KiB", "1MiB", "256MiB"], draw.randint(0, 3)):
        for pages in draw.choice([("base", "thp"), ("thp",)]):
            swept = {"bytes": size, "pages": pages}
            found.append(Cell("node/latency", launches(draw), swept=swept, title=LABELS[0], caveats=caveats))
    for length in draw.sample(LENGTHS, draw.randint(0, 5)):
        counts, swept = {"messages": 2, "bytes_sent": 2 * length}, {"bytes": str(length)}
        found.append(Cell("mpi/p2p", launches(draw), swept=swept, title="lengths", counts=counts, ranks=2))
    for number in range(draw.randint(0, 3)):
        values = launches(draw)
        found.append(
            Cell(
                "node/gemm", values, {"n": str(2 << number)}, title=draw.choice(LABELS), counts={"flops": 10**6},
                best=draw.choice([None, 1.0, 1e11]), lost=[draw.choice(SHARES) for _ in values],
                wrong=draw.random() < 0.2,
                places=[[draw.uniform(0.8, 1.2), 1e3] for _ in values] if draw.random() < 0.3 else (),
            )
        )  # fmt: skip
    return found


def some_run(draw: Random) -> Summary:
    """A run of such cells on a system of any settings."""
    lost, throttled, stolen = (draw.choice(SHARES) / 3 for _ in range(3))
    took = taken(10**9, lost, throttled, stolen) if draw.random() < 0.5 else None
    system = {
        "thp": draw.choice(["", "madvise", "madvise", "always", "never"]),
        "governor": draw.choice(["", "performance", "powersave", "schedutil"]),
        "clock_source": draw.choice(["", "tsc", "hpet"]),
        "container": draw.choice(["", "docker"]),
        "swap_used_bytes": draw.choice(["", "0", str(2**30)]),
    }
    software = {"glibc": draw.choice(["2.31", "2.36", "2.36", "", "x"])}
    title = draw.choice(["evaluate --quick", "run gemm n=4", "evaluate `reboot`", "suite x"])
    return found_run(some_cells(draw), took, title=title, system=system, software=software)


def test_findings_of_any_run_are_sound() -> None:
    seen: Counter[str] = Counter()
    for seed in range(300):
        found = check(some_run(Random(seed)))
        seen.update(one.rule for one in found)
    assert {"pages", "message fall", "far from a limit", "imbalance", "lost time", "quota"} <= seen.keys()


def check(summary: Summary) -> tuple[RunFinding, ...]:
    """The findings of a run, each looked at."""
    found = findings(summary)
    for one in found:
        check_words(one, sorted({figure.name for figure in summary.figures}, key=len, reverse=True))
        for line in one.lines:
            check_line(line)
        if one.kind == "gain":
            assert one.effect is not None
            assert one.effect.is_interval
            assert one.effect.low > NOTHING_BELOW
            assert one.effect.number >= LEAST_PAIRS
        else:
            assert one.effect is None
    shown = found[: first_of(found)]
    assert len({one.family for one in shown}) == len(shown)
    ranks = [KINDS.index(one.kind) for one in found[len(shown) :]]
    assert ranks == sorted(ranks)
    for text in review(summary).passed:
        check_text(text)
    return found


def check_words(one: RunFinding, names: Sequence[str]) -> None:
    """At most two sentences, no value that is none, and a unit behind every number that is in no name."""
    for text in (one.title, one.body, *one.details):
        check_text(text)
    assert one.body.endswith(".")
    assert len(re.findall(r"[.;](?= [A-Z])|\.$", one.body)) <= 2, one.body
    text = f"{one.title} | {one.body}"
    for name in (*names, "core 0", "core 1"):
        text = text.replace(name, "figure")
    for number in re.finditer(r"(?<![\w.×])\d[\d.]*(e[+-]?\d+)?", text):
        assert re.match(r"\s?(%|×|…|[A-Za-zµ])|:", text[number.end() :]), (number[0], text)


def check_text(text: str) -> None:
    """Something is said, and no value in it is none."""
    assert text.strip()
    assert not re.search(r"\b(nan|inf|None|NaN)\b|\{|\}", text), text


def check_line(line: str) -> None:
    """Read by the command line, or a setting or remark of a shell."""
    if line.startswith("octant "):
        command_lines.read(line)
    else:
        assert re.fullmatch(r"export \w+=\S+|(echo|sudo) .*|# .*", line), line


_FILL = """
import ctypes
library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
memory = ctypes.c_void_p(library.malloc(ctypes.c_size_t(256 << 20)))
ctypes.memset(memory, 1, 256 << 20)
print(next(line for line in open("/proc/self/smaps_rollup") if "AnonHugePages" in line).split()[1])
"""


def test_the_line_for_huge_pages_gives_the_memory_of_a_program_huge_pages() -> None:
    """256 MiB from malloc: of several starts one, as glibc 2.36 may heed the setting on some starts only."""
    setting = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if not setting.exists() or "[madvise]" not in setting.read_text(encoding="ascii"):
        pytest.skip("transparent huge pages are not on madvise here")
    library = ctypes.CDLL(None)
    if not hasattr(library, "gnu_get_libc_version"):
        pytest.skip("no glibc")
    library.gnu_get_libc_version.restype = ctypes.c_char_p
    major, minor = (int(part) for part in library.gnu_get_libc_version().decode().split(".")[:2])
    if not HUGE_PAGE_TUNABLE_SINCE <= (major, minor) < HUGE_PAGE_DEFAULT_SINCE:
        pytest.skip(f"the line is not advised with glibc {major}.{minor}")

    def huge_mib(line: str) -> int:
        shell = ["/bin/sh", "-c", f'{line}\nexec "$0" -c "$1"', sys.executable, _FILL]
        done = subprocess.run(shell, capture_output=True, text=True, check=True, timeout=60)
        return int(done.stdout) >> 10

    assert huge_mib(":") < 64
    assert max(huge_mib(HEAP) for _ in range(3)) > 200
