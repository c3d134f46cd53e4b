"""What a study asks of a machine: every combination, in a random order that is written down."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_run import machine
from octant import facts
from octant.machine import Machine
from octant.machine.hwloc import load
from octant.runs import cell_costs
from octant.study import file
from octant.study.cells import axis_values, cells, with_axis_values
from octant.study.design import design
from octant.study.parts import Cell, MeasureAxis
from paths import ROOT
from study_text import STUDY, curve_study

RECORDED = sorted([*(ROOT / "machines").glob("*.xml"), *(ROOT / "machines").glob("*.synthetic")])


def on(topology: Path) -> Machine:
    clean = machine()
    return Machine(topology.name, load(topology), clean.processor, 64 * 2**30, clean.page_sizes, {**clean.system}, {})


@pytest.mark.parametrize("name", file.names())
@pytest.mark.parametrize("topology", RECORDED, ids=lambda path: path.name)
def test_shipped_studies_plan_on_every_recorded_machine(name: str, topology: Path) -> None:
    study = file.load(name)
    if study.source == "model":
        return
    study = with_axis_values(study, axis_values(study, facts.numbers(on(topology))))
    plan = design(study, on(topology), seed=1)
    assert set(plan.questions) | set(plan.absent) == set(cells(study))
    assert not set(plan.questions) & set(plan.absent)
    assert {request.key for request in plan.requests} == set(plan.questions.values())
    assert set(Counter(number for number, _ in plan.order).values()) <= {study.repeats}
    for request in plan.requests:
        assert request.shape.ranks >= 1
        assert all(value.isdigit() for name, value in request.knobs.items() if name == "bytes" and "*" in value)


def test_ladders_of_an_axis_come_out_as_one(tmp_path: Path) -> None:
    study = file.load(curve_study(tmp_path, '"64KiB to 1MiB by 4", "l2", "96KiB to 1MiB by 4"', at="l2"))
    measure = with_axis_values(study, axis_values(study, {"l2": 512 * 1024})).measures["m"]
    assert measure.axis
    assert measure.axis.values == ("65536", "98304", "262144", "393216", "524288", "1048576")


def test_bytes_along_an_axis_have_a_unit_for_people() -> None:
    sizes, counts = (MeasureAxis(knob="bytes", values=("1", "2"), unit=unit) for unit in ("B", "lines"))
    assert [sizes.label(value) for value in ("98304", "1800", "2MiB", "4*llc")] == [
        "96 KiB",
        "1800 B",
        "2 MiB",
        "4*llc",
    ]
    assert counts.label("98304") == "98304"


def test_the_order_is_shuffled_within_rounds_and_repeats_with_the_seed() -> None:
    study = file.load("stream-affinity-pages")
    plan = design(study, machine(nodes=2, smt=2), seed=3)
    rounds: dict[int, list[str]] = {}
    for number, repeat in plan.order:
        rounds.setdefault(repeat, []).append(plan.requests[number].key)
    assert list(rounds) == list(range(study.repeats))
    assert len({tuple(sorted(block)) for block in rounds.values()}) == 1  # every round asks everything once
    assert len({tuple(block) for block in rounds.values()}) > 2  # in another order
    assert all(rounds[n] == rounds[n - 1][::-1] for n in rounds if n % 2)  # a steady drift cancels
    assert plan == design(study, machine(nodes=2, smt=2), seed=3)
    assert plan.order != design(study, machine(nodes=2, smt=2), seed=4).order


def test_words_become_numbers_of_the_machine() -> None:
    """2 domains x 2 cores x 2 threads with a 32 MiB cache per domain: 4 * 64 MiB over 4 or 8 ranks."""
    plan = design(file.load("stream-affinity-pages"), machine(nodes=2, smt=2), seed=0)
    asked = {request.show.title: request for request in plan.requests}
    core = asked["triad: yes, local, large, one rank per core"]
    assert (core.shape.ranks, core.knobs["bytes"], core.shape.place) == (4, str(64 * 2**20), "4x1,smt=1")
    threads = asked["triad: yes, local, large, one rank per core, SMT threads"]
    assert (threads.shape.ranks, threads.knobs["threads"], threads.shape.place) == (4, "2", "4x2,smt=2")
    ranks = asked["triad: yes, local, large, one rank per hardware thread"]
    assert (ranks.shape.ranks, ranks.knobs["bytes"], ranks.shape.place) == (8, str(32 * 2**20), "8x1,smt=2")


@pytest.mark.parametrize(
    ("ranks", "why"),
    [
        ("1000000", "1000000 ranks of 1 thread on 2 hardware threads are too many"),
        ("cores/8", "the number of ranks is 0 (cores/8 on this machine)"),
    ],
)
def test_a_level_with_too_many_or_no_ranks_is_not_asked(ranks: str, why: str) -> None:
    study = file.parse(STUDY.replace("a = {}", f'a = {{ ranks = "{ranks}" }}'), "mine")
    assert design(study, machine(), seed=0).absent == {Cell("m", ("a",)): why}


def test_what_does_not_fit_into_memory_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cell_costs, "memory_shortfall", lambda *_: " (1 rank would hold 9 B, and 8 B are available)")
    why = "not enough memory (1 rank would hold 9 B, and 8 B are available)"
    study = file.parse(STUDY, "mine")
    assert set(design(study, machine(), seed=0, why_no_memory=cell_costs.explain_no_fit).absent.values()) == {why}
    assert not design(study, machine(), seed=0).absent, "runs of format 1 are designed again, whatever is free here"


@pytest.mark.parametrize("ranks", ["many", "-1", "ranks", "cores/0", "1.5"])
def test_a_count_that_is_none_is_refused(ranks: str) -> None:
    study = file.parse(STUDY.replace("a = {}", f'a = {{ ranks = "{ranks}" }}'), "mine")
    with pytest.raises(file.StudyError, match=rf"cannot plan m: a \(ranks = '{ranks}': .*try 2, cores or 2\*cores"):
        design(study, machine(), seed=0)


@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 5), st.integers(0, 2**31))
def test_every_plan_covers_its_product_once_per_round(a: int, b: int, repeats: int, seed: int) -> None:
    """Levels that differ in a knob each: all combinations, each as often as there are rounds."""
    first = "\n".join(f'{n} = {{ knobs = {{ bytes = "{n + 1}MiB" }} }}' for n in range(a))
    second = "\n".join(f'{n} = {{ knobs = {{ seconds = "{n + 1}" }} }}' for n in range(b))
    text = f"""
    question = "?"
    repeats = {repeats}
    baseline = {{ one = "0", two = "0" }}
    [measures.m]
    workload = "stream"
    [factors.one]
    {first}
    [factors.two]
    {second}
    """
    plan = design(file.parse(text, "law"), machine(), seed)
    assert len({request.key for request in plan.requests}) == a * b
    assert sorted(plan.order) == [(number, repeat) for number in range(a * b) for repeat in range(repeats)]


def test_the_study_of_the_documentation_can_be_run() -> None:
    page = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
    example = file.parse(page.split("```toml\n")[1].split("```")[0], "mine")
    plan = design(example, machine(), seed=0)
    assert len(plan.order) == 2 * example.repeats
    assert len(plan.requests[0].cells()) == 3


def test_the_mode_of_old_files_is_read_and_changes_nothing() -> None:
    old = file.parse(STUDY.replace('workload = "stream"', 'workload = "stream"\nmode = "all"'), "mine")
    assert design(old, machine(), seed=0) == design(file.parse(STUDY, "mine"), machine(), seed=0)


def test_a_location_means_the_hardware_threads_that_it_names_here() -> None:
    """Two domains of two cores; the third is missed by its need, or by what it names."""
    text = STUDY.replace("b = {", 'b = { place = "numa:1.core:0",', 1)
    here = machine(nodes=2)
    plan = design(file.parse(text, "test"), here, seed=1)
    expected = min(cpu.os for cpu in here.topology.cpus if cpu.numa == 1)
    assert f"1x1,unit=hwthread,cpus={expected}" in {request.shape.place for request in plan.requests}
    nowhere = design(file.parse(text.replace("numa:1", "numa:7"), "test"), here, seed=1)
    assert "this machine has no numa:7.core:0" in nowhere.absent.values()
