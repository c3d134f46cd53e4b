"""Which programs are the same: the key of what is asked, and the identity of what was measured."""

import dataclasses
from dataclasses import replace

import pytest

from fake_run import fake_run
from octant.identity import identity_of
from octant.program import ProgramCheck, ProgramProfile, ProgramValue
from octant.request import Launch, Request, Shape, Subject

PLAIN = Subject(command=("./app", "a"), program="app")
STARTED = {
    "command": ("./app", "b"),
    "environment": {"OMP_SCHEDULE": "static"},
    "input": "in.dat",
    "directory": "/srv/elsewhere",
    "fresh": True,
    "before": (("rm", "x"),),
    "after": (("rm", "x"),),
    "profile": ProgramProfile(),
}
JUDGED = {
    "values": (ProgramValue("rate", pattern="x(.)"),),
    "checks": (ProgramCheck("file", file="x"),),
    "statuses": (0, 1),
    "keep": ("*.dat",),
}
NAMES = {"workload": "node/stream", "program": "other"}


def key(**changed: object) -> str:
    return Request(replace(PLAIN, **changed)).key  # type: ignore[arg-type]


def test_every_part_of_a_subject_is_looked_at_here() -> None:
    assert {field.name for field in dataclasses.fields(Subject)} == {*STARTED, *JUDGED, *NAMES}


@pytest.mark.parametrize("name", STARTED)
def test_what_changes_a_launch_makes_another_key(name: str) -> None:
    assert key(**{name: STARTED[name]}) != key()


def test_parts_are_not_taken_for_one_another() -> None:
    keys = [key(**{name: value}) for name, value in STARTED.items()]
    assert len(set(keys)) == len(keys)
    assert key(environment={"A": "b", "C": "d"}) == key(environment={"C": "d", "A": "b"})


@pytest.mark.parametrize("name", JUDGED)
def test_what_is_read_from_a_launch_makes_no_other_key(name: str) -> None:
    assert key(**{name: JUDGED[name]}) == key()


def test_a_command_without_further_parts_has_the_key_of_earlier_versions() -> None:
    assert Request(Subject(command=("./solve", "{n}")), {"n": "1"}, Shape(2)).key == "program-solve-c9a53c8c74"


def test_an_argument_is_what_was_written() -> None:
    """A workload takes `4k` for 4 KiB; what a program takes it for is not known."""
    requests = [Request(replace(PLAIN, command=("./app", "{n}")), {"n": n}) for n in ("4k", "4KiB", "4096", "prefer:0")]
    assert len({request.key for request in requests}) == 4
    first = replace(requests[0], knobs={"n": "4k,4KiB"})
    assert [left.started_knobs for left in Launch(first).without([{"n": "4KiB"}])] == [{"n": "4k"}]
    point = replace(fake_run().points[0], workload="program/app")
    found = [identity_of(replace(point, knobs=request.knobs), request) for request in requests]
    assert len({one.same_quantity for one in found}) == 4


@pytest.mark.parametrize("knob", ["memory", "pages", "precision", "seconds"])
def test_a_knob_of_a_program_has_no_meaning_of_a_workloads_knob(knob: str) -> None:
    point = replace(fake_run().points[0], workload="program/app")
    request = Request(replace(PLAIN, command=("./app", f"{{{knob}}}")), {knob: "1,2"})
    found = [identity_of(replace(point, knobs={knob: value}), request) for value in "12"]
    assert found[0].same_quantity != found[1].same_quantity


def test_arguments_and_input_are_a_part_of_what_is_measured() -> None:
    point = replace(fake_run().points[0], workload="program/app")
    subjects = (PLAIN, replace(PLAIN, command=("./app", "b")), replace(PLAIN, input="x"))
    assert len({identity_of(point, Request(subject)).same_quantity for subject in subjects}) == 3
    judged = replace(PLAIN, **JUDGED)  # type: ignore[arg-type]
    assert identity_of(point, Request(judged)) == identity_of(point, Request(PLAIN))
