"""Studies that ask the network model: every verdict, against the published numbers of the catalogue."""

from pathlib import Path

import pytest

from octant.stats import Interval
from octant.study import file, outcome
from octant.study.factors import gain
from octant.study.file import StudyError
from octant.study.modelled import model, modelled_values
from octant.study.values import StudyValue

pytest.importorskip("octant._network")

HOLDS, NOT, OPEN = "holds", "does not hold", "undecided"
EXPECTED = {
    "alltoall-schedule": [
        ("p775-schedule-12pct", OPEN)
    ],  # 0.77 to 0.92 with 4 to 16 packets in flight: the window is free
    "fft-normalised": [("p775-fft-vs-k", OPEN)],  # 5.5 / 1.6 = 3.44, "over 3.5"; unrounded 3.30 to 3.58
    "gfft-scaling": [("p775-gfft-flat", HOLDS), ("p775-gfft-model", HOLDS), ("p775-gfft-insensitive-k", HOLDS)],
    "gups-scaling": [
        ("p775-gups-drop-two", HOLDS),
        ("p775-gups-linear-rise", HOLDS),
        *[("p775-gups-sawtooth", HOLDS)] * 3,
        ("p775-gups-linear", HOLDS),
        ("p775-gups-asymptote", HOLDS),
    ],
    "hpcc-normalised": [("p775-bgq-gups", HOLDS)],
    "hpcc-scaling": [*[("p6-ring-bandwidth-collapses", HOLDS)] * 2],
    "mpi-bidirectional-contention": [
        ("bgp-intranode-shares", HOLDS),
        *[("bgp-link-shares", HOLDS)] * 2,
        ("bgp-link-eight-pairs", HOLDS),
        ("bgp-cube-like-line", HOLDS),
        ("bgp-distance-halves", HOLDS),
        ("bgp-intranode-fastest", OPEN),  # memory's share of a node is known within a factor of 18 only
    ],
    "multi-link-striping": [("p6-rdma-striping-max-bandwidth", HOLDS)],
    "network-failover": [*[("p6-failover-needs-links", HOLDS)] * 2],
    "process-mapping": [("bgp-placement-matters", HOLDS)],
    "ptrans-scaling": [
        ("p775-ptrans-drop-two", HOLDS),
        ("p775-ptrans-linear", HOLDS),
        ("p775-ptrans-threshold", NOT),  # the hard minimum says 14.4 supernodes, not 19
        ("p775-ptrans-no-sawtooth", HOLDS),
    ],
    "routing-modes": [("p775-indirect-routing", HOLDS)],
}


def test_every_model_study_is_expected_here() -> None:
    assert sorted(EXPECTED) == [name for name in file.names() if file.load(name).source == "model"]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_the_verdicts_of_the_model(name: str) -> None:
    verdicts = outcome.outcome_of_model(name).verdicts
    assert [(verdict.finding.id, verdict.status) for verdict in verdicts] == EXPECTED[name]


def test_ratios_beside_the_published_ones() -> None:
    """1.08 and 0.1 GUPS an octant on one and two supernodes; the twelfth part of the ring's time."""
    by_id = {verdict.finding.id: verdict for verdict in outcome.outcome_of_model("gups-scaling").verdicts}
    assert by_id["p775-gups-drop-two"].there == pytest.approx((0.1 / 1.08,) * 2)
    (schedule,) = outcome.outcome_of_model("alltoall-schedule").verdicts
    assert schedule.there == pytest.approx((0.88, 0.88))


def test_a_model_is_asked_and_not_run() -> None:
    assert outcome.is_model("gups-scaling")
    assert not outcome.is_model("stream-affinity-pages")
    with pytest.raises(StudyError, match="cannot ask a model for stream-affinity-pages"):
        outcome.outcome_of_model("stream-affinity-pages")
    with pytest.raises(StudyError, match=r"cannot ask the model 'oracle' \(there is none of that name\)"):
        model("oracle")


def test_a_model_study_of_a_users_own_is_asked_by_its_file(tmp_path: Path) -> None:
    text = file.source_text("hpcc-normalised")[1]
    mine = tmp_path / "mine.toml"
    mine.write_text(text)
    assert outcome.is_model(str(mine))
    assert [verdict.status for verdict in outcome.outcome_of_model(str(mine)).verdicts] == [HOLDS]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('"normalised"', '"catalogue"', r"cannot ask the model 'catalogue' \(there is none of that name\); try rate, "),
        ('"normalised"', '"load"', r"cannot ask the model 'load' \(there is none of that name\)"),
        ('"normalised"', '"_at_edges"', r"cannot ask the model '_at_edges' \(there is none of that name\)"),
        (
            '"RandomAccess" }',
            '"RandomAccess", speed = 2 }',
            r"got an unexpected keyword argument 'speed'\); correct its",
        ),
    ],
)
def test_a_model_study_is_data_and_reaches_nothing_but_models(old: str, new: str, why: str) -> None:
    text = file.source_text("hpcc-normalised")[1].replace(old, new)
    with pytest.raises(StudyError, match=why):
        modelled_values(file.parse(text, "mine"))


def test_two_modelled_values_share_what_is_uncertain() -> None:
    """Both ends of both come from the same capacity, so their ratio is certain."""
    one, half = (StudyValue(modelled=Interval(8 / d, 10 / d, 12 / d)) for d in (1, 2))
    assert gain(one, half, "higher") == Interval(2, 2, 2)
