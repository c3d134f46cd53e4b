"""No answer of `octant model` holds nan, infinity or a negative rate: it is a figure or a sentence."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model_command import run
from octant.failure import Refusal
from octant.network.solve import SOLVERS
from octant.network.traffic import NAMES

UNFIT = re.compile(r"(?<![\w-])[-+]?(nan|inf|infinity)(?![\w-])", re.IGNORECASE)
BARE = """
name = "bare"
[topology]
kind = "graph"
edges = "n0 s\\nn1 s\\nn2 s\\n"
hosts = "n"
[links.link]
bytes_per_s = "1 GB/s"
[endpoint]
to_itself = "memory"
[packet]
payload_bytes = 1000
[routing]
name = "ecmp"
"""
MACHINES = [
    ("bgp", (1, 2, 6, 8)),
    ("power775", (1, 2, 3)),
    ("power575-ib", (1, 2, 5, 16)),
    ("dragonfly-example", (2, 3)),
    ("hyperx-example", (1, 2)),
    ("bare", (3,)),
]
CLASSES = {"bgp": "link", "power775": "D", "power575-ib": "port", "dragonfly-example": "global", "bare": "link"}


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a network that is limited only by its links."""
    path = tmp_path_factory.mktemp("networks") / "bare.toml"
    path.write_text(BARE)
    return str(path)


@st.composite
def questions(draw: st.DrawFn) -> list[str]:
    """Arguments of one command; `bare` replaces the file."""
    name, sizes = draw(st.sampled_from(MACHINES))
    size = str(draw(st.sampled_from(sizes)))
    traffic = ["-t", draw(st.sampled_from([*NAMES, "gfft"]))]
    link = ["-c", CLASSES.get(name, "link")]
    number = draw(st.sampled_from([0, 1, 2, 3, 8, 64, 2**31 - 1]))
    at, parameter = ["-n", size], ["-p", str(number)]
    few = ["--sizes", size, *draw(st.sampled_from([[], ["--job", "1"], ["--job", "0:1"], ["--job", "1,0"]]))]
    policy = draw(st.sampled_from([[], ["--policy", "spread"], ["--policy", "detour"], ["--policy", "recompute"]]))
    solver = ["--solver", draw(st.sampled_from(SOLVERS)), *draw(st.sampled_from([[], ["--bytes", "5kB"]]))]
    return draw(
        st.sampled_from(
            [
                ["solve", name, *traffic, *at, *parameter, *solver],
                ["scale", name, *traffic, *few, *parameter, *solver],
                ["explain", name, *traffic, *at, *parameter],
                ["diff", name, "bgp" if name == "bare" else name, *traffic, *few],
                ["reach", name, draw(st.sampled_from(["1e-300", "1e9", "1e18"])), *traffic, *at, *parameter],
                ["bracket", name, "--against", draw(st.sampled_from(["valiant", "indirect"])), *traffic, *at],
                ["fail", name, *link, *traffic, *at, *parameter, *policy],
                [
                    "fail",
                    name,
                    *link,
                    *traffic,
                    *at,
                    *policy,
                    "--random",
                    str(min(max(number, 1), 2**20)),
                    "--trials",
                    "3",
                ],
                ["recover", name, *link, *traffic, *at, *parameter, "--megabytes", "0.02", "--fails", "2us"],
                ["loads", name, *traffic, *few],
            ]
        )
    )


def figures(value: Any, name: str = "") -> Iterator[tuple[str, float]]:
    """Every number of an answer with its name."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from figures(item, str(key))
    elif isinstance(value, list):
        for item in value:
            yield from figures(item, name)
    elif isinstance(value, (int, float)):
        yield name, value


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=questions(), as_json=st.booleans())
def test_no_answer_holds_what_is_no_number(bare: str, words: list[str], as_json: bool) -> None:
    words = [bare if word == "bare" else word for word in words]
    refused = False
    try:
        said = run(*words, *(["--json"] if as_json else []))
    except Refusal as refusal:
        refused, said = True, str(refusal)
    assert not UNFIT.search(said), (words, said)
    if as_json and not refused:
        assert [(k, v) for k, v in figures(json.loads(said)) if k.endswith(("per_s", "_s", "packets")) and v < 0] == []
