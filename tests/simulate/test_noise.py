"""Interruptions that a run measured, as the network model takes them."""

import dataclasses

import pytest

from fake_run import fake_run, lane, point
from octant.failure import Refusal
from octant.simulate.noise import interruptions_of


def test_late_quanta_are_interruptions_of_a_core() -> None:
    """Of 1,000 quanta of 100 us two are 30 us late and one 2 ms."""
    quanta = [100_000] * 997 + [130_000, 131_000, 2_100_000]
    measured = point(
        "chunks", workload="node/noise", counts={"quanta": 1}, knobs={"additions": "40000"}, lanes=(lane(quanta),)
    )
    short, long = interruptions_of(dataclasses.replace(fake_run(), points=(measured,)))
    whole_s = sum(quanta) * 1e-9
    assert [short.length_s, short.every_s] == pytest.approx([30.5e-6, whole_s / 2])
    assert [long.length_s, long.every_s] == pytest.approx([2e-3, whole_s])


def test_a_run_without_interruptions_is_refused_with_what_measures_them() -> None:
    stream = dataclasses.replace(
        fake_run(), points=tuple(one for one in fake_run().points if one.workload != "node/noise")
    )
    with pytest.raises(Refusal, match="octant run noise"):
        interruptions_of(stream)
    assert interruptions_of(fake_run())
