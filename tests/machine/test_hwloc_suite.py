"""The machines of hwloc's own test suite are read as hwloc says, and everything Octant derives from them is sane.

`make field` downloads the suite, and so does `make test`; without it the tests are skipped.
"""

import shutil
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from hwloc_expected import Cpus, Expected, differences, read_expected, restricted
from hwloc_suite import Case, cases, unpacked
from octant.machine import Topology
from octant.machine.discover import discover
from octant.machine.load import load
from octant.machine.recording import record
from paths import DATA
from placement_checks import all_faults

TABLE = tomllib.loads((DATA / "hwloc-suite.toml").read_text())
CASES = [case for case in cases() if TABLE["cases"].get(case.name, {}).get("not_compared") != "all"]
FIRST = list({case.source: case for case in reversed(CASES)}.values())
"""A case of each machine, on which placements are planned."""
MISSING = pytest.param(None, marks=pytest.mark.skip("hwloc's test suite is not downloaded; run `make field`"))
FACTS = ("threads", "cores", "packages", "caches", "memory_side", "nodes", "kinds")


def _options(case: Case) -> Iterator[str]:
    """Yield the options of lstopo, each with the word that it takes."""
    words = iter(case.options)
    for word in words:
        yield f"{word} {next(words)}" if word in ("--of", "--ignore", "--filter", "--export-xml-flags") else word


def _not_compared(case: Case) -> set[str]:
    """Return the facts that a case's options, variables or own row leave out."""
    entries = [TABLE["options"][option] for option in _options(case)]
    entries += [TABLE["variables"][name]["not_compared"] for name in case.variables]
    entries.append(TABLE["cases"].get(case.name, {}).get("not_compared", ""))
    entries.append(TABLE["folders"].get(case.name.partition("/")[0], {}).get("not_compared", ""))
    words = " ".join(entry for entry in entries if not entry.startswith("instruction")).split()
    assert {*words} <= {*FACTS, "none", "whole", "group"}
    return {*words} | ({"instruction"} if "instruction caches" in entries else set())


@contextmanager
def _source(case: Case) -> Iterator[Path]:
    """Yield what a user would give to Octant: an XML file, or the folder of a recorded tree with its CPUID dump."""
    if case.source.suffix == ".xml":
        yield case.source
        return
    with unpacked(case.source) as root, TemporaryDirectory() as name:
        if case.name.startswith("linux/"):
            yield root
        elif case.name.startswith("x86/"):
            shutil.move(root, Path(name) / "cpuid")
            yield Path(name)
        else:
            shutil.move(root / "cpuid", root / "fsroot" / "cpuid")
            yield root / "fsroot"


def _read(path: Path) -> Topology:
    return discover(path).topology if path.is_dir() else load(str(path))[0]


def _facts(topology: Topology) -> Expected:
    """Return a topology in the form of what hwloc expects."""
    found = Expected({cpu.os for cpu in topology.cpus})
    found.cores = Counter(topology.groups("core"))
    found.packages = Counter(topology.groups("package"))
    found.caches = Counter((c.level, c.kind, c.size_bytes or 0, c.cpus) for c in topology.caches or ())
    found.memory_side = Counter(size or 0 for node in topology.numa for size in node.side_caches)
    found.nodes = {node.os: (node.memory_bytes, node.cpus) for node in topology.numa}
    found.kinds = [kind.cpus for kind in topology.kinds or ()]
    return found


def _compare(case: Case, topology: Topology) -> list[str]:
    left_out = _not_compared(case)
    expected, found = read_expected(case.expected), _facts(topology)
    if not topology.numa:  # hwloc adds one where the system states none, Octant does not
        assert len(expected.nodes) == 1 or "nodes" in left_out
        expected.nodes = {}
    if "whole" not in left_out:
        nodes = frozenset(expected.nodes)  # those that may be used; the output has no others
        threads = frozenset(expected.threads) if "group" in left_out else topology.allowed
        found = restricted(found, threads, nodes)
        expected = restricted(expected, topology.allowed | expected.threads, nodes)
    if "instruction" in left_out:
        found.caches = Counter({key: count for key, count in found.caches.items() if key[1] != "instruction"})
    for name in left_out & {*FACTS}:
        setattr(found, name, getattr(expected, name))
    for name in ("cores", "packages"):
        setattr(found, name, _without_own(getattr(expected, name), getattr(found, name)))
    found.nodes = _with_shared(expected.nodes, found.nodes)
    return list(differences(expected, found))


def _without_own(expected: Counter[Cpus], found: Counter[Cpus]) -> Counter[Cpus]:
    """Leave out the cores and packages of threads that hwloc shows in none: a thread is in one of each for Octant."""
    in_one = frozenset().union(*expected)
    return Counter({cpus: count for cpus, count in found.items() if cpus & in_one or cpus in expected})


Nodes = dict[int, tuple[int | None, Cpus]]


def _with_shared(expected: Nodes, found: Nodes) -> Nodes:
    """Return the nodes with the threads of all memory at a place, where each thread is in one of these nodes.

    hwloc attaches several nodes to the same threads; Linux and Octant count each thread in the nearest node only.
    """
    held = Counter(cpu for _, cpus in found.values() for cpu in cpus)
    local = frozenset().union(*(cpus for _, cpus in expected.values()))
    if held != Counter(local):
        return found
    return {
        number: (size, expected[number][1]) if number in expected and cpus <= expected[number][1] else (size, cpus)
        for number, (size, cpus) in found.items()
    }


@pytest.mark.parametrize("case", CASES or [MISSING], ids=lambda case: case.name if case else "not downloaded")
def test_a_machine_is_read_as_hwloc_says(case: Case, tmp_path: Path) -> None:
    with _source(case) as source:
        topology = _read(source)
        assert _compare(case, topology) == []
        if source.is_dir():
            record(tmp_path / "copy", source)
            assert discover(tmp_path / "copy").topology == topology
    if case in FIRST:
        assert all_faults(topology, case.name) == []
