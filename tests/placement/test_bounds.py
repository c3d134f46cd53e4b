"""What is far too much is refused in an instant, with its bound; what is just allowed is planned in seconds."""

import time
from pathlib import Path

import pytest

from octant.failure import Refusal
from octant.launchers import append_named_file, from_syntax
from octant.machine import hwloc
from octant.machine.hwloc import read_synthetic
from octant.placement.expressions import parse_place
from octant.placement.planner import plan
from octant.placement.request import LONGEST, MAX_NODE_THREADS, parse_request

NODE = read_synthetic("pack:2 core:4 pu:2")


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("100000x1,oversubscribe=yes", f"on one node at most {MAX_NODE_THREADS} are supported"),
        ("99999999999x1", "'99999999999x1' is not of the form"),
        ("1x1,smt=99999999999", "at most nine digits"),
        ("2000000x1,torus=100x100x100,order=XYZT", "on a torus at most 1000000"),
        ("1x1,torus=1000x1000x1000,order=XYZT", "at most 1000000 nodes"),
        ("1x1,cpus=" + "/".join(["0-65535"] * 15_000), f"at most {MAX_NODE_THREADS} numbers are supported"),
        ("1x1," + "a" * LONGEST, f"at most {LONGEST}"),
        ("0x" + "f" * 200_000, "mask has 200000 digits"),
        ("0-1," * LONGEST, f"at most {LONGEST}"),
    ],
)
def test_a_request_beyond_a_bound_is_refused_at_once(text: str, bound: str) -> None:
    begun = time.process_time()
    with pytest.raises(ValueError, match=bound) as refused:
        parse_place(text, NODE)
    assert time.process_time() - begun < 1
    assert len(str(refused.value)) < 1000


@pytest.mark.parametrize(
    "lines",
    [
        f"taskset 0x{'f' * 200_000} ./program",
        f"srun --cpu-bind=mask_cpu:0x{'f' * 200_000} -n 1 ./program",
        f"mpiexec -bind-to user:{'1' * 2_000_000} ./program",
        "#@ rset = rset_mcm_affinity\n#@ task_affinity = core(2)\n#@ total_tasks = 99999999",
    ],
)
def test_lines_of_a_launcher_have_the_same_bounds(lines: str) -> None:
    begun = time.process_time()
    with pytest.raises(ValueError, match=r"cannot .*(at most|supported|from 1 to 4096)"):
        from_syntax(lines, NODE)
    assert time.process_time() - begun < 1


def test_lines_without_a_number_of_ranks_are_drawn_with_those_that_fit() -> None:
    _name, reading = from_syntax("#@ rset = rset_mcm_affinity\n#@ task_affinity = core(2)", NODE)
    assert reading.request.ranks == 4


@pytest.mark.parametrize(
    ("machine", "request_"),
    [
        ("numa:1000 core:2 pu:1", "1000x1"),
        ("pack:2 core:2048 pu:1", "4096x1,order=scatter"),
        ("numa:1024 core:2 pu:1", "1024x1,unit=numa,order=scatter"),
        ("core:2 pu:1", f"{MAX_NODE_THREADS}x1,oversubscribe=yes"),
    ],
)
def test_the_largest_requests_are_planned(machine: str, request_: str) -> None:
    placement = plan(read_synthetic(machine), parse_request(request_))
    ranks = int(request_.partition("x")[0])
    assert [place.rank for place in placement.ranks] == list(range(ranks))
    if "oversubscribe" not in request_:
        assert len({place.cpus for place in placement.ranks}) == ranks


def test_a_description_of_too_large_a_machine_is_refused() -> None:
    for text in (
        "core:8193 pu:1", "core:99999999999 pu:1", "pack:999999999 core:999999999 pu:1",
        "numa:1025 pu:1", "pack:1025 [numa] pu:1", "pack:64 numa:4 [numa] [numa] [numa] core:4 [numa] pu:1",
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"support|not a level|at least"):
            read_synthetic(text)


def test_a_device_is_no_input() -> None:
    with pytest.raises(ValueError, match="not a regular file"):
        hwloc.load(Path("/dev/zero"))
    with pytest.raises(Refusal, match="not a regular file"):
        parse_request("2x1,torus=2x2x2,map=/dev/zero")
    with pytest.raises(ValueError, match="not a regular file"):
        append_named_file("mpirun --rankfile /dev/zero ./program")
