"""Short names fit a row of a table, and tell the figures of a run apart."""

from dataclasses import replace

import pytest

from octant.analysis.figures import figure
from octant.analysis.names import knob_text, name_and_rest, place_text, short_name
from octant.tile import NAME_WIDTH
from octant.workloads import workload
from pair_times import launch
from screen_run import messages, rates, summary_of


@pytest.mark.parametrize(
    ("label", "swept", "name"),
    [
        ("Triad", {"store": "streaming"}, "Triad, streaming stores, 1 core"),
        ("Random load", {"bytes": "8192", "pages": "base"}, "Random load, 8 KiB, base, 1 core"),
        ("triad from memory, one core", {}, "Triad from memory, 1 core"),
        ("bandwidth against vector width", {"width": "128"}, "Bandwidth against…, 128, 1 core"),
        ("matrix multiply n=256, one core", {"element": "double"}, "n=256 matrix mu…, double, 1 core"),
        ("x" * 80, {}, "X" + "x" * 22 + "…, 1 core"),
    ],
)
def test_a_name_says_what_what_differs_and_where(label: str, swept: dict[str, str], name: str) -> None:
    figure = summary_of(rates([1e9])).figures[0]
    points = tuple(replace(p, knobs=swept) for p in figure.points)
    title = ", ".join([label, *(f"{knob} {value}" for knob, value in swept.items())])
    assert short_name(replace(figure, points=points, label=label, title=title)) == name


def test_a_tile_has_the_whole_name_and_says_the_rest_in_words() -> None:
    figure = summary_of(rates([1e9])).figures[0]
    knobs = {"prefetch": "no", "pages": "default"}
    points = tuple(replace(p, knobs=knobs) for p in figure.points)
    title = "StarRandomAccess, prefetch no, pages default"
    found = name_and_rest(replace(figure, points=points, label="StarRandomAccess", title=title))
    assert found == ("StarRandomAccess", "no prefetch, default pages, 1 core")


def test_the_metric_is_named_where_it_is_not_the_headline() -> None:
    summary = summary_of(messages({8: 1500.0}))
    (other,) = summary.others.values()
    assert short_name(other) == "Message, 2 ranks, bandwidth"


def test_no_name_is_longer_than_a_row_takes() -> None:
    figure = summary_of(rates([1e9])).figures[0]
    knobs = {name * 9: "v" * 40 for name in "abc"}
    points = tuple(replace(p, knobs=knobs) for p in figure.points)
    title = ", ".join(["loop", *(f"{knob} {value}" for knob, value in knobs.items())])
    assert len(short_name(replace(figure, points=points, title=title))) <= NAME_WIDTH


def test_values_of_knobs_read_as_people_say_them() -> None:
    said = [knob_text(*one) for one in (("pages", "thp"), ("n", "256"), ("element", "double"), ("width", "scalar"))]
    assert said == ["huge pages", "n 256", "double", "scalar width"]


def test_a_kernel_that_places_threads_by_itself_says_how_many() -> None:
    for notes, text in (({"pairs": "120"}, "120 pairs"), ({"own threads": "2"}, "2 threads"), ({}, "1 core")):
        found = figure(workload("node/coherence"), [launch([0, 1, 2], notes=notes)])
        assert place_text(found) == text
