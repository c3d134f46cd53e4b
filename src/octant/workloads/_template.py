"""`make new-workload NAME=…`: a folder that builds, runs, verifies and is tested, to be changed into the real thing."""

import re
import sys
from pathlib import Path

_README = """# {name}

## What it does
## Why it is here
## What limits it
## How it is verified
## Pitfalls
## References
"""

_INIT = '''"""One line: what {name} measures."""

from octant.machine import Machine
from octant.record import Point
from octant.workload import Ask, Ceilings, Limit, Metric, Workload


def updates(point: Point) -> float:
    """Loads of one chunk."""
    return point.work.loads


def _limit(_machine: Machine, ceilings: Ceilings, point: Point) -> Limit | None:
    """One load a cycle and lane."""
    if ceilings.clock_hz is None:
        return None
    lanes = point.ranks * point.threads
    return Limit(lanes * ceilings.clock_hz, f"one load a cycle at {{ceilings.clock_hz / 1e9:.2f}} GHz, {{lanes}} lanes")


def _evaluate(_machine: Machine, quick: bool) -> tuple[Ask, ...]:
    return (Ask("one", {{"seconds": "0.5" if quick else "2"}}, "{name}, one core"),)


WORKLOAD = Workload(
    name="{name}",
    summary="One line: what {name} measures",
    metrics=(Metric("updates", "1/s", "rate", updates),),
    limit=_limit,
    evaluate=_evaluate,
)
'''

_KERNEL = """// {name}: sums an array. Change it into the real thing.
#include "octant/kernel.hpp"

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
        context.watched = {{&values_.mapping()}};
    }}
    void chunk(int lane, std::int64_t) {{
        totals_[static_cast<std::size_t>(lane) * stride] = sum(values_.data() + lane * count_, count_);
    }}
    [[nodiscard]] octant::Counts work(std::size_t) const {{
        return {{{{"bytes_read", 8 * count_}}, {{"flops", count_}}, {{"loads", count_}}}};
    }}
    octant::Results verify() {{
        if (!corrupted_) chunk(0, 0);
        double const difference = totals_[0] - static_cast<double>(count_);  // a sum of ones
        return {{{{"difference from the sum by hand", difference < 0 ? -difference : difference, "1", 0}}}};
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

_TEST = '''"""{name}: its limit by hand."""

import pytest

from octant.workloads.{name} import WORKLOAD


def test_the_headline_is_a_rate() -> None:
    assert WORKLOAD.metric().kind == "rate"
    with pytest.raises(KeyError, match="try updates"):
        WORKLOAD.metric("no such metric")
'''


def write(name: str, root: Path) -> list[Path]:
    """The new folder's files, below `root`.

    Raises:
        SystemExit: the name is no Python identifier in lower case, or the folder exists.
    """
    folder = root / name
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise SystemExit(f"cannot name a workload {name!r} (lower-case letters, digits and _ only); try NAME=my_kernel")
    if folder.exists():
        raise SystemExit(f"cannot make {folder} (it exists); try another NAME")
    folder.mkdir()
    texts = {"README.md": _README, "__init__.py": _INIT, "kernel.cpp": _KERNEL, f"test_{name}.py": _TEST}
    for file, text in texts.items():
        (folder / file).write_text(text.format(name=name), encoding="utf-8")
    return [folder / file for file in texts]


if __name__ == "__main__":
    for path in write(sys.argv[1] if len(sys.argv) > 1 else "", Path(__file__).parent):
        print(path)
