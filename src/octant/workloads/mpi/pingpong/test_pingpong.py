"""Time, bandwidth and limit of pingpong by hand."""

import pytest

from fake_run import MIB, lane, machine, point
from octant import analysis, units
from octant.record import Given, Point, Work
from octant.workload import Ceilings
from octant.workloads.pingpong import SIZES, WORKLOAD, rotation_bytes


def there_and_back(length: int, ns: int, buffers: str = "rotating", hosts: tuple[str, str] = ("a", "a")) -> Point:
    given = tuple(Given(host, (0,), ((0,),), ()) for host in hosts)
    work = Work(messages=2, message_bytes=2 * length)
    knobs = {"bytes": str(length), "buffers": buffers}
    return point("steps", work=work, knobs=knobs, lanes=(lane([ns] * 8),), ranks=2, given=given)


def test_time_is_one_way_and_bandwidth_too() -> None:
    found = there_and_back(MIB, 200_000)
    assert analysis.figure(WORKLOAD, found).value.middle == pytest.approx(1e-4)
    assert analysis.figure(WORKLOAD, found, metric="bandwidth").value.middle == pytest.approx(MIB / 1e-4)


def test_the_limit_is_one_read_and_one_write_of_the_message() -> None:
    ceilings = Ceilings(memory_bytes_per_s={1: 20e9, 2: 40e9})
    limit = WORKLOAD.limit(machine(), ceilings, there_and_back(MIB, 200_000))
    assert limit is not None
    assert limit.value == pytest.approx(2 * MIB / 40e9)
    for silent in (
        there_and_back(8, 1000),
        there_and_back(MIB, 200_000, buffers="hot"),
        there_and_back(MIB, 200_000, hosts=("a", "b")),
    ):
        assert WORKLOAD.limit(machine(), ceilings, silent) is None


def test_the_curve_goes_from_nothing_to_4_mib() -> None:
    assert (SIZES[0], SIZES[1], SIZES[-1]) == (0, 1, 4 * MIB)
    curve = WORKLOAD.evaluate(machine(), True)[2]
    lengths = [units.parse_bytes(text) for text in curve.knobs["bytes"].split(",")]
    assert (lengths[0], lengths[-1]) == (0, 4 * MIB)
    assert len(lengths) == len(set(lengths)) >= 12
    assert rotation_bytes(machine(cores=2)) == 32 * MIB
