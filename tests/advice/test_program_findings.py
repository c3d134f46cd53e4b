"""Rules on users' programs: each fires on what was planted for it, and is silent on what was planted for the others."""

import re
import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

import command_lines
from fake_run import GIB, machine
from octant.advice import findings as advised
from octant.advice.findings import RunFinding
from octant.advice.findings._program_lines import program_line
from octant.analysis.summary import Summary
from octant.machine import Machine
from octant.request import Request
from octant.runs.programs.options import ProgramOptions
from octant.units import NARROW
from program_run import RankSeen, Seen, launches, program_summary, request_of

OF_PROGRAMS = {
    "shared cores", "oversubscription", "unbound threads", "base pages", "idle cores", "remaining processes",
    "system time", "waiting",
}  # fmt: skip
EIGHT = tuple(range(8))


def host(nodes: int = 1, cores: int = 8, thp: str = "madvise", glibc: str = "2.36") -> Machine:
    """A machine with so many NUMA domains of so many cores."""
    made = machine(nodes=nodes, cores=cores)
    system = {**made.system, "thp": thp, "governor": "performance"}
    return replace(made, system=system, software={**made.software, "glibc": glibc})


@dataclass(frozen=True)
class Planted:
    """A run in which one rule finds something."""

    seen: Seen
    request: Request = field(default_factory=request_of)
    on: Machine = field(default_factory=host)


def rank(threads: int = 1, cpus: tuple[int, ...] = (0, 1), **changes: Any) -> RankSeen:
    """A rank with busy threads that may use these hardware threads; all of its CPU time is user time."""
    return RankSeen(**{
        "user": float(threads), "system": 0.0, "cpus": (cpus * threads)[:threads], "masks": (cpus,) * threads, **changes
    })  # fmt: skip


CALM = Planted(Seen(ranks=[rank(2)]))
PLANTED = {
    "oversubscription": Planted(
        Seen(ranks=[rank(4, user=1.9)], pressure=0.9, notes={"busy threads of a process": "4"})
    ),
    "shared cores": Planted(
        Seen(ranks=[rank(1, (3,), user=0.25)] * 4, pressure=0.9), request_of(("./solve",), ranks=4)
    ),
    "unbound threads": Planted(Seen(ranks=[rank(4, EIGHT)]), on=host(nodes=2, cores=4)),
    "base pages": Planted(Seen(ranks=[rank(2, nodes={"0": 2 * GIB}, huge=GIB // 10)])),
    "idle cores": Planted(Seen(ranks=[rank(1, EIGHT)])),
    "remaining processes": Planted(Seen(ranks=[rank(2)], notes={"outlived": "7 (sleep)"})),
    "system time": Planted(Seen(ranks=[rank(2, user=0.5, system=1.5)], minor_faults=2_000_000)),
    "waiting": Planted(Seen(ranks=[rank(1, user=0.2)], waits=800)),
}  # fmt: skip


def summary(planted: Planted, root: Path, **changes: Any) -> Summary:
    return program_summary(root, planted.request, [launches(replace(planted.seen, **changes))], on=planted.on)


def rules(found: Summary) -> set[str]:
    return {one.rule for one in advised.findings(found)} & OF_PROGRAMS


def only(found: Summary) -> RunFinding:
    (one,) = (one for one in advised.findings(found) if one.rule in OF_PROGRAMS)
    return replace(one, title=one.title.replace(NARROW, " "), body=one.body.replace(NARROW, " "))


def test_every_rule_on_programs_has_a_planted_run() -> None:
    assert PLANTED.keys() == OF_PROGRAMS


@pytest.mark.parametrize("rule", PLANTED)
def test_a_rule_fires_on_its_planted_run_alone(tmp_path: Path, rule: str) -> None:
    assert rules(summary(PLANTED[rule], tmp_path)) == {rule}


def test_nothing_is_found_of_a_program_that_uses_what_it_may(tmp_path: Path) -> None:
    found = summary(CALM, tmp_path)
    assert rules(found) == set()
    review = advised.review(found)
    assert not review.broken
    assert "threads did not share hardware threads" in review.passed
    assert not any("pages and settings" in text for text in review.passed), "nothing was asked of them"


@pytest.mark.parametrize(
    ("rule", "title", "line"),
    [
        ("oversubscription", "4 busy threads on 2 hardware threads: oversubscribed",
         "octant run --env OMP_NUM_THREADS=2 -- ./solve input"),
        ("shared cores", "4 ranks share 1 hardware thread", "octant run --place 4x1 -- ./solve"),
        ("unbound threads", "4 threads may migrate between 2 NUMA domains", "octant run --place 1x4 -- ./solve input"),
        ("base pages", "Only 5.0 % of 2 GiB of memory is on huge pages",
         "octant run --env GLIBC_TUNABLES=glibc.malloc.hugetlb=1 -- ./solve input"),
        ("idle cores", "Only one of 8 hardware threads was busy", "octant run threads=1,2,4,8 -- ./solve input"),
        (
            "remaining processes",
            "Processes kept running after the program in 6 of 6 launches",
            "octant run -- ./solve input",
        ),
        ("system time", "75 % of CPU time is system time, much of it from 2,000,000 page faults",
         "octant run --env GLIBC_TUNABLES=glibc.malloc.mmap_threshold=33554432:"
         "glibc.malloc.trim_threshold=4294967296:glibc.malloc.hugetlb=1 -- ./solve input"),
        ("waiting", "The program waited for 80 % of its time", "strace -f -c -w -S time ./solve input"),
    ],
)  # fmt: skip
def test_a_finding_has_a_number_and_a_line_to_copy(tmp_path: Path, rule: str, title: str, line: str) -> None:
    found = only(summary(PLANTED[rule], tmp_path))
    assert found.title == title
    assert found.lines == (line,)
    if line.startswith("octant"):
        command_lines.read(line)


THRESHOLDS: list[tuple[str, dict[str, Any], bool]] = [
    ("oversubscription", {"pressure": 0.09}, False),
    ("oversubscription", {"pressure": None, "preemptions": 51}, True),
    ("oversubscription", {"pressure": None, "preemptions": 49}, False),
    ("oversubscription", {"ranks": [rank(2, user=1.9)]}, False),
    ("shared cores", {"ranks": [rank(1, (3,), user=0.25), rank(1, (4,))]}, False),
    ("shared cores", {"ranks": [rank(1, EIGHT, user=0.5)] * 4}, False),
    ("unbound threads", {"ranks": [rank(4, (0, 1, 2, 3))]}, False),
    ("unbound threads", {"ranks": [rank(1, EIGHT, nodes={"0": 900, "1": 100}, user=1.5)]}, False),
    ("unbound threads", {"ranks": [rank(1, EIGHT, nodes={"0": GIB // 8, "1": GIB // 4}, user=1.5)]}, True),
    ("base pages", {"ranks": [rank(2, nodes={"0": GIB - 4096})]}, False),
    ("base pages", {"ranks": [rank(2, nodes={"0": GIB}, huge=GIB // 10)]}, True),
    ("base pages", {"ranks": [rank(2, nodes={"0": GIB}, huge=GIB // 9)]}, False),
    ("idle cores", {"ranks": [rank(1, (0, 1, 2))]}, False),
    ("idle cores", {"ranks": [rank(1, EIGHT, user=1.21)]}, False),
    ("system time", {"ranks": [rank(2, user=1.0, system=1.0)]}, False),
    ("system time", {"ranks": [rank(2, user=0.9, system=1.0)]}, True),
    ("system time", {"ranks": [rank(2, user=0.04, system=0.05)], "wall": 0.05}, False),
    ("waiting", {"ranks": [rank(1, user=0.51)]}, False),
    ("waiting", {"ranks": [rank(1, user=0.0)], "wall": 0.09}, False),
    ("waiting", {"ranks": [rank(1, user=0.45, throttled=0.2)]}, False),
]


@pytest.mark.parametrize(("rule", "changes", "fires"), THRESHOLDS)
def test_a_rule_holds_to_its_threshold(tmp_path: Path, rule: str, changes: dict[str, Any], fires: bool) -> None:
    assert (rule in rules(summary(PLANTED[rule], tmp_path, **changes))) is fires


@pytest.mark.parametrize(
    ("notes", "title"),
    [
        ({"busy threads of a process": "1"}, "4 busy processes on 2 hardware threads: oversubscribed"),
        ({}, "4 busy threads on 2 hardware threads: oversubscribed"),
    ],
)
def test_threads_of_openmp_are_advised_only_of_a_process_with_several(
    tmp_path: Path, notes: dict[str, str], title: str
) -> None:
    found = only(summary(PLANTED["oversubscription"], tmp_path, notes=notes))
    assert found.title == title
    assert found.lines == ("octant run -- ./solve input",)
    assert "OpenMP" not in found.body
    assert "processes" in found.body


def test_huge_pages_are_advised_only_where_the_line_would_do_something(tmp_path: Path) -> None:
    planted = PLANTED["base pages"]
    for number, on in enumerate((host(thp="always"), host(thp="never"), host(glibc="2.31"), host(glibc="2.43"))):
        assert rules(summary(replace(planted, on=on), tmp_path / str(number))) == set(), on.system
    asked = request_of(environment={"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"})
    assert rules(summary(replace(planted, request=asked), tmp_path / "asked")) == set()
    other = request_of(environment={"GLIBC_TUNABLES": "glibc.malloc.arena_max=1"})
    (line,) = only(summary(replace(planted, request=other), tmp_path / "other")).lines
    assert "GLIBC_TUNABLES=glibc.malloc.arena_max=1:glibc.malloc.hugetlb=1 " in line


def test_system_calls_are_looked_at_where_page_faults_do_not_explain_the_time(tmp_path: Path) -> None:
    found = only(summary(PLANTED["system time"], tmp_path, minor_faults=1000))
    assert found.title == "75 % of CPU time is system time"
    assert found.lines == ("strace -f -c -S time ./solve input",)
    (line,) = only(summary(PLANTED["system time"], tmp_path / "faults", minor_faults=375_001)).lines
    assert "GLIBC_TUNABLES" in line
    (line,) = only(summary(PLANTED["system time"], tmp_path / "few", minor_faults=374_999)).lines
    assert line.startswith("strace")
    (line,) = only(summary(replace(PLANTED["system time"], on=host(thp="never")), tmp_path / "base")).lines
    assert "mmap_threshold" in line
    assert "hugetlb" not in line


def test_a_line_measures_the_cell_that_was_found(tmp_path: Path) -> None:
    request = request_of(("mpiexec", "-n", "{n}", "./my solve", "a;b"), program="my solve", knobs={"n": "1,2"})
    wasteful = replace(PLANTED["system time"].seen, minor_faults=0)
    cells = [launches(CALM.seen), launches(wasteful)]
    found = only(program_summary(tmp_path, request, cells, on=host()))
    assert found.lines == ("strace -f -c -S time mpiexec -n 2 './my solve' 'a;b'",)
    quota = replace(CALM.seen, ranks=[rank(2, throttled=0.5)])
    lost = program_summary(tmp_path / "quota", request, [launches(quota)] * 2, on=host())
    (line,) = next(one for one in advised.findings(lost) if one.rule == "quota").lines[1:]
    assert line == "octant run n=1,2 -- mpiexec -n {n} './my solve' 'a;b'"
    assert shlex.split(line) == ["octant", "run", "n=1,2", "--", *request.subject.command]
    command_lines.read(line)


def test_rules_on_kernels_find_nothing_in_programs_with_knobs_of_the_same_names(tmp_path: Path) -> None:
    request = request_of(("./app", "{pages}", "{seconds}"), knobs={"pages": "base,thp", "seconds": "1,2"})
    cells = [launches(replace(CALM.seen, wall=wall)) for wall in (2.0, 2.1, 1.0, 1.1)]
    found = program_summary(tmp_path, request, cells, on=host())
    assert len(found.figures) == 4, "seconds is an argument of the program"
    assert advised.findings(found) == ()
    assert not any("gain from huge pages" in text for text in advised.review(found).passed)


OPTIONS = [
    ProgramOptions(),
    ProgramOptions(value=("rate[Mop/s]=total *= *([0-9.]+)", "residual[1,lower,out.json]=json:solver.0.residual")),
    ProgramOptions(value=("t[s]=time (.*)", "u[s,higher]=up (.*)", "v[1,higher,stderr]=(.*) it's")),
    ProgramOptions(check=("residual within 1e-9", "energy within 0.1% of -1.25", "n within 2 of 0 absolute")),
    ProgramOptions(check=("file out.dat", "file a b.dat = right.dat", "command ./verify 'a b' x", "exit=0,3")),
    ProgramOptions(env=("OMP_SCHEDULE={s}", "EMPTY=", "A=b c"), input="in file.nml", fresh_dir=True),
    ProgramOptions(keep=("*.log",), before=("cp 'a b' c",), after=("rm -f c", "true")),
]


@pytest.mark.parametrize("options", OPTIONS)
def test_a_line_asks_what_was_asked(options: ProgramOptions) -> None:
    """The options that a line has are read back into the same subject, whatever a shell makes of their characters."""
    subject = options.subject(("./app", "$HOME", "{s}", "a'b"), "app", "/home/user")
    (line,) = program_line(Request(subject, {"s": "static,guided"}), {"s": "static"})
    words = shlex.split(line)
    assert words[:3] == ["octant", "run", "s=static"]
    at = words.index("--")
    given: dict[str, Any] = {}
    rest = words[3:at]
    while rest:
        name = rest.pop(0)
        option = name.removeprefix("--").replace("-", "_")
        if option == "fresh_dir":
            given[option] = True
        elif option == "input":
            given[option] = rest.pop(0)
        else:
            given[option] = (*given.get(option, ()), rest.pop(0))
    assert ProgramOptions(**given).subject(words[at + 1 :], "app", "/home/user") == subject
    command_lines.read(line)


def test_no_line_is_made_of_characters_that_cannot_be_typed() -> None:
    assert program_line(request_of(("./app", "a\x1b[2J")), {}) == ()


def test_sentences_hold_no_nonsense(tmp_path: Path) -> None:
    for name, planted in PLANTED.items():
        for one in advised.findings(summary(planted, tmp_path / name)):
            text = " ".join((one.title, one.body, *one.details))
            assert not re.search(r"\b(nan|inf|None)\b|[{}]", text), text
            assert one.lines
