"""`make new-workload NAME=…`: a folder that builds, runs, verifies and is tested, to be changed into the real thing."""

import re
import sys
from pathlib import Path

_FAMILY = '"""One line: what the workloads of {family} have in common."""\n'
_README = """# {name}

## What it does
## Why it is here
## What limits it
## How it is verified
## Pitfalls
## References
"""

_INIT = '''"""One line: what {name} measures."""

from octant.limit import Known, Limit
from octant.machine import Machine
from octant.metric import Metric, rate
from octant.record import Point
from octant.workload import Curve, Workload
from octant.workloads.{family}.{name}.step import step


def _least_seconds(known: Known, _machine: Machine, point: Point) -> Limit | None:
    """One addition per cycle and hardware thread, at the clock that was measured between the bursts."""
    clock_hz, threads = known.clock_hz, len(point.hardware_threads)
    if clock_hz is None or not threads:
        return None
    source = f"one addition per cycle at {{clock_hz / 1e9:.2f}} GHz"
    return Limit(point.count("additions") / (clock_hz * threads), source)


WORKLOAD = Workload(
    summary="One line: what {name} measures",
    metrics=(Metric("additions", "addition/s", "higher", rate("additions"), note="how they are counted"),),
    least_seconds=_least_seconds,
    pictures=(Curve("bytes"),),
    step=step,
    smoke={{"bytes": "4KiB"}},
)
'''

_STEP = '''"""One chunk of each thread of {family}/{name}: what it reads and computes, and what its arrays take."""

from collections.abc import Mapping

from octant.step import Step
from octant.units import parse_bytes

_DOUBLE_BYTES = 8


def step(knobs: Mapping[str, str], ranks: int, threads: int) -> Step:
    """The same counts as `work()` of the kernel, of all threads together."""
    count = parse_bytes(knobs["bytes"]) // _DOUBLE_BYTES * ranks * threads
    return Step({{"bytes_read": _DOUBLE_BYTES * count, "additions": count}}, _DOUBLE_BYTES * count)
'''

_KERNEL = """// {name}: sums an array. Change it into the real thing.
#include "octant/kernel.hpp"

#include <cmath>

namespace {{

// The hot loop is a free function of plain arguments, so that its assembly can be read.
double sum(double const* values, std::ptrdiff_t n) {{
    double total = 0;
    for (std::ptrdiff_t i = 0; i < n; ++i) total += values[i];
    return total;
}}

class Sum {{
  public:
    static octant::KernelInfo info() {{
        return {{.knobs = {{{{"bytes", octant::KnobKind::bytes, "1MiB", "array of one thread", {{}}, 8}}}}}};
    }}
    explicit Sum(octant::Context& context)
        : count_(context.knobs.integer("bytes") / 8),
          values_(context.buffer<double>(static_cast<std::size_t>(count_ * context.threads))),
          totals_(static_cast<std::size_t>(context.threads) * stride) {{
        context.on_each_thread([&](int lane) {{
            for (std::ptrdiff_t i = 0; i < count_; ++i) values_[static_cast<std::size_t>(lane * count_ + i)] = 1;
        }});
        context.watched = {{values_.mapping().bytes()}};
    }}
    void chunk(int lane, std::int64_t) {{
        totals_[static_cast<std::size_t>(lane) * stride] = sum(values_.data() + lane * count_, count_);
    }}
    // What one chunk of one thread does, counted from the source.
    [[nodiscard]] octant::Counts work(std::size_t) const {{
        return {{{{"bytes_read", 8 * count_}}, {{"additions", count_}}}};
    }}
    octant::Results verify() {{
        if (!corrupted_) chunk(0, 0);
        double const difference = std::abs(totals_[0] - static_cast<double>(count_));  // a sum of ones
        return {{{{"difference from the sum by hand", difference, "1", 0}}}};
    }}
    void corrupt(std::size_t) {{
        totals_[0] = -1;
        corrupted_ = true;
    }}

  private:
    static constexpr std::size_t stride = 16;  // totals of two lanes never share a cache line
    std::ptrdiff_t count_;
    octant::Buffer<double> values_;
    std::vector<double> totals_;
    bool corrupted_ = false;
}};

}}  // namespace

int main(int argc, char** argv) {{ return octant::run<Sum>(argc, argv); }}
"""

_TEST = '''"""{name}: its limit and its step by hand."""

import pytest

from fake_run import lane, machine, point
from octant.limit import Known
from octant.workloads import workload


def test_a_thousand_additions_take_a_microsecond_at_one_gigahertz() -> None:
    found = point(counts={{"additions": 1000}}, lanes=(lane([2000] * 8),))
    known = Known(machine().topology, clock_hz=1e9)
    limit = workload("{family}/{name}").least_seconds(known, machine(), found)
    assert limit is not None
    assert limit.seconds == pytest.approx(1e-6)


def test_a_step_of_two_threads_reads_both_arrays() -> None:
    declared = workload("{family}/{name}").step
    assert declared is not None
    assert declared({{"bytes": "4KiB"}}, 1, 2).counts == {{"bytes_read": 8192, "additions": 1024}}
'''


def write(asked: str, root: Path) -> list[Path]:
    """Return the files of the new folder, and of a new family, below `root`.

    Args:
        asked: `family/name`, or a name in the family `node`.

    Raises:
        SystemExit: family or name is no Python identifier in lower case, or the folder exists.
    """
    family, _, name = asked.rpartition("/")
    family = family or "node"
    folder = root / family / name
    if not all(re.fullmatch(r"[a-z][a-z0-9_]*", word) for word in (family, name)):
        raise SystemExit(
            f"cannot name a workload {asked!r} (lower-case letters, digits and _ only); try NAME=node/my_kernel"
        )
    if folder.exists():
        raise SystemExit(f"cannot make {folder} (it exists); try another NAME")
    folder.mkdir(parents=True)
    texts = {
        "README.md": _README,
        "__init__.py": _INIT,
        "step.py": _STEP,
        "kernel.cpp": _KERNEL,
        f"test_{name}.py": _TEST,
    }
    if not (root / family / "__init__.py").exists():
        texts["../__init__.py"] = _FAMILY
    for file, text in texts.items():
        (folder / file).write_text(text.format(family=family, name=name), encoding="utf-8")
    return [(folder / file).resolve() for file in texts]


if __name__ == "__main__":
    for path in write(sys.argv[1] if len(sys.argv) > 1 else "", Path(__file__).parent):
        print(path)
