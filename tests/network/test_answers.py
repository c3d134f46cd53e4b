"""What `octant model` answers to many questions, and how it refuses others, is what `model-answers.json` holds.

The laws and oracles of this folder say that the engine is right; this file says that no answer changes unnoticed.
After a change that is meant, `pytest tests/network/test_answers.py --rewrite` writes it anew: review the difference.
"""

import functools
import json
import math
import shlex
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model_command import run
from octant.failure import Refusal
from octant.network import load
from octant.network.applications import alltoall_rate, global_fft, pair_experiments, random_ring
from octant.network.calibrate import fit
from octant.network.failures import random_failures, recover
from octant.network.overview import sizes
from octant.network.platform import platform
from octant.network.solve import solve
from octant.network.traffic import (
    NAMES,
    RANDOM_ACCESS,
    UNIFORM,
    Flows,
    TrafficPattern,
    make,
    mix,
    pairs,
    place,
    rank_flows,
)
from octant.report.network.answers import as_json
from paths import DATA

FILE = DATA / "model-answers.json"
LONGEST = 6  # longer lists of numbers are summarised

INPUTS = {
    "POINTS": "2 9.0e8 0.02\n3 1.0e9  # near the limit\n\n24 1.0e9 at_least\n25 1.05e9 0.1 at_most\n",
    "PAIRS": "0 5 1000\n5 0 500  # back\n\n1 1 10\n",
    "MAP": "0\n3\n2\n1\n6\n7\n",
}
"""Files, by the word that represents them in a question."""
QUESTIONS = """
scale power775 -t randomaccess --sizes 1,2,24,25
scale power775 -t gfft --sizes 63,1980
scale power775 -t random-ring --sizes 2
scale power575-ib -t random-ring --sizes 1,4
scale power575-ib -t ptrans --sizes 1:64:21
scale dragonfly-example -t shift --sizes 3,9 --solver packets --bytes 4KiB --window 4
scale bgp -t uniform --sizes 8,27 --job 0:4
scale hyperx-example -t tornado -p 3
scale dragonfly-example -t shift -p 0 --sizes 2
solve bgp -t random --solver max-min -n 27
solve bgp -t uniform --solver soft
solve bgp -t uniform --solver queue --window 3
solve power775 -t uniform -n 2 --solver class
solve power775 -t ptrans -n 3 --routing indirect --job 2
solve power775 -t ptrans -n 2 --routing indirect
solve dragonfly-example -t reverse -n 9 --routing valiant
solve dragonfly-example -t shift -p 0 -n 2
solve bgp --pairs PAIRS
solve bgp --pairs PAIRS --place MAP
solve bgp --pairs PAIRS --place TXYZ --per-node 4
explain power775 -t randomaccess -n 25
explain bgp -t random
explain dragonfly-example -t shift -p 32 -n 9
explain bgp -t to-itself
diff power775 power775 --sizes 2,8 --routing indirect -t ptrans
diff bgp hyperx-example --job 0:7
reach power775 1e9 -t randomaccess -n 16
reach bgp 500e6
reach bgp 1
bracket dragonfly-example -t shift -p 32 -n 9 --against valiant
bracket power775 -t ptrans --against indirect -n 2
bracket dragonfly-example -t shift -p 0 -n 2 --against valiant
fail bgp -c link --policy recompute -n 27
fail power775 -c D -n 3 --policy twin
fail power775 -c D -n 3 --lanes 3
fail dragonfly-example -c global --random 2 --trials 5 -n 5
recover power575-ib -c port -p 12 --megabytes 0.05 --fails 2us
calibrate power775 -t ptrans --free D,endpoint
calibrate power775 -t randomaccess --free D,injection --points POINTS
calibrate bgp --points POINTS --tolerance 0.01 --free link
loads power775 -t randomaccess --sizes 2
loads bgp -t random --sizes 8
report bgp -t shift --sizes 8
report power575-ib -t uniform --sizes 12
report dragonfly-example -t uniform --sizes 3
collective bgp allreduce --sizes 8:4KiB --overhead 2us --ranks 12 --per-node 4 --place TXYZ
collective bgp barrier --overhead 1us --noise 50us/10ms
collective bgp alltoall --ranks 6 --bytes 1MiB
collective power575-ib bcast --bytes 1MiB --latency 1us
ring bgp --latency 1us --rings 3
ring power575-ib --ranks 8 --per-node 4 --latency 1us --rings 3
hpcc power775 --nodes 126,1944
hpcc power575-ib --nodes 64
hpcc bgp --nodes 64
app bgp --ranks 8,64 --compute 1ms --halo 3d:64KiB --reduce 8
app bgp --ranks 64 --compute 1ms --reduce 1MiB --algorithm all
""".strip().splitlines()
PRINTED = """
export bgp --to edges -n 3
export dragonfly-example --to edges -n 3
export hyperx-example --to graph
export bgp --to simgrid -n 2
""".strip().splitlines()
REFUSED = """
scale bgq
scale power775 -t gfft --sizes 2 --job 1
scale bgp -t unifrom
scale bgp --sizes 0
scale bgp --sizes 1:20000
scale bgp --sizes 8:4
scale bgp --sizes 1:9:0
scale bgp --sizes 1:2:3:4
scale bgp --job 99
scale bgp --job 0:64
scale power775 --job 2,x:
scale bgp --solver guess
scale bgp -t shift --bytes 0
scale bgp -t shift --bytes many
solve bgp --bytes 1KiB
solve bgp --routing magic
solve bgp -t shift --solver queue
solve dragonfly-example -t transpose -n 9
solve bgp -t random-ring -p 0
solve bgp -t incast -p 64
solve power775 -n 600
solve bgp --pairs PAIRS --bytes 1
solve bgp --pairs PAIRS --place ZYX
solve bgp --pairs MAP
solve bgp --pairs PAIRS --place POINTS
solve bgp --pairs PAIRS -n 2
diff bgp bgp --routing magic
reach bgp 0
bracket bgp --against magic
fail bgp -c D
fail bgp -c link --lanes 2
fail power775 -c D -n 1
fail bgp -c link --random 400
fail power775 -c D -n 2 --random 1000
fail bgp -c link --policy magic
fail dragonfly-example -c global -t shift -p 0 -n 2
recover bgp -c link -t uniform
recover bgp -c link --fails 2h
recover bgp -c link --timeout soon
calibrate bgp --points POINTS --free lnk
calibrate bgp -t incast
calibrate bgp --points PAIRS --free link
calibrate bgp --points MAP --free link
calibrate bgp -t to-itself --free link --points POINTS
calibrate power775 -t randomaccess
export bgp --to dot
export power775 --to graph -n 2
export power775 --to simgrid
collective bgp allredcue
collective bgp allreduce --algorithm rign
collective bgp allreduce --ranks 65
collective bgp barrier --overhead 1us --noise often
collective dragonfly-example allreduce --ranks 4
collective bgp barrier --overhead 1us --noise LONG
scale bgp --sizes LONG
scale bgp --job LONG
ring bgp --ranks 65 --latency 1us
hpcc power775 --nodes 1
hpcc bgp --nodes 100000000
""".strip().splitlines()


def calls() -> dict[str, Any]:
    """Answers of functions that no command gives alone."""
    bgp, power775, power575 = load("bgp"), load("power775"), load("power575-ib")
    small = power775.at_size(2)
    shift = make(power575.at_size(8), "shift", 3, 20_000.0)
    answers = {
        "sizes": {name: sizes(load(name)) for name in ("bgp", "power775", "power575-ib", "hyperx-example")},
        "alltoall": {
            f"{schedule} {layout}": alltoall_rate(power575.at_size(4), schedule, 4, 4, layout)
            for schedule in ("linear", "ring", "prime-stride")
            for layout in ("block", "random")
        },
        "schedules": {
            "window": 2,
            "regular_per_s": alltoall_rate(power575.at_size(4), "ring", 4, 2),
            "prime_stride_per_s": alltoall_rate(power575.at_size(4), "prime-stride", 4, 2),
        },
        "global_fft": global_fft(power775, 100),
        "random_ring": random_ring(power575, 3, 4, 1000.0, 7),
        "pairs": pair_experiments(bgp),
        "random_failures": random_failures(small, make(small, "ptrans"), "D", 2, 6, 0.5, 3),
        "recover": recover(power575.at_size(8), shift, 100, 1e-6, 5e-5, 1e-5, 2, 4),
        "place": {
            **{order: place(bgp, order, 12, 2) for order in ("block", "round-robin", "TXYZ", "XYZT", "ZYXT")},
            "diagonal-cyclic": place(power775, "diagonal-cyclic", 12, 2),
        },
        "first": [make(power575.at_size(8), name).flows for name in ("shift", "random", "incast")],
        "flows": {name: rank_flows(name, 16) for name in NAMES if name not in UNIFORM},
    }
    no_flows = Flows(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0))
    nothing = TrafficPattern("nothing", "B", RANDOM_ACCESS, bgp.topology.active(), no_flows)
    refused: dict[str, Callable[[], object]] = {
        "send nothing": lambda: solve(bgp, nothing),
        "pairs elsewhere": lambda: pair_experiments(power575),
        "many tasks": lambda: alltoall_rate(power575.at_size(4), "ring", 2**11),
        "no such schedule": lambda: alltoall_rate(power575.at_size(4), "rign", 4),
        "no such layout": lambda: alltoall_rate(power575.at_size(4), "ring", 4, 8, "blokc"),
        "many trials": lambda: random_failures(small, make(small, "ptrans"), "D", 1, 10**6),
        "such a seed": lambda: random_failures(small, make(small, "ptrans"), "D", 1, 1, 0.0, -1),
        "such a timer": lambda: recover(power575.at_size(8), shift, 100, 0.0, -1.0, 0.0),
        "such a ping": lambda: recover(power575.at_size(8), shift, 100, 0.0, 0.0, math.nan),
        "many hosts": lambda: platform(power775, power775.topology.active()),
        "such a parameter": lambda: make(bgp, "shift", 2**31),
        "such an amount": lambda: make(bgp, "shift", 1, 1e19),
        "such a flow": lambda: pairs(bgp, [(0, 1, 0.0)]),
        "such a place": lambda: place(bgp, "block", 8, 0),
        "jobs of two units": lambda: mix("two", [shift, make(bgp, "shift", 1, 1.0, "update")]),
        "no points": lambda: fit("uniform", [], [], ["link"]),
    }
    answers |= {name: refusal(one) for name, one in refused.items()}
    return {name: json.loads(as_json(answer)) for name, answer in answers.items()}


def rounded(value: Any) -> Any:
    """Numbers to nine digits; of a long list of numbers how many there are, the ends, and the sum."""
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        if len(value) > LONGEST and all(isinstance(one, (int, float)) for one in value):
            whole = np.array(value, dtype=np.float64)
            weighted = float(np.sum(whole * np.arange(1, len(whole) + 1)))
            return {"numbers": len(value), **rounded({"first": value[0], "last": value[-1], "weighted": weighted})}
        return [rounded(one) for one in value]
    if isinstance(value, float):
        return float(f"{value:.9g}") if math.isfinite(value) else str(value)
    return value


def described(text: str) -> dict[str, Any]:
    """Return the first lines of a text, their number, and a checksum of all."""
    lines = text.splitlines()
    return {"lines": len(lines), "checksum": zlib.crc32(text.encode()), "first": lines[:12]}


def refusal(refused: Callable[[], object]) -> list[Any]:
    """Return the message and exit code of a refusal."""
    with pytest.raises(Refusal) as raised:
        refused()
    return [str(raised.value), int(raised.value.code)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("inputs")
    for name, text in INPUTS.items():
        (path / name).write_text(text)
    return path


def found(folder: Path) -> dict[str, Any]:
    """Everything that the file holds."""

    def words(question: str) -> list[str]:
        long = {"LONG": "abcdefg" * 30}
        return [str(folder / word) if word in INPUTS else long.get(word, word) for word in shlex.split(question)]

    answers: dict[str, Any] = {one: json.loads(run(*words(one), "--json")) for one in QUESTIONS}
    answers |= {one: described(run(*words(one))) for one in PRINTED}
    answers |= {one: refusal(functools.partial(run, *words(one))) for one in REFUSED}
    return {name: rounded(answer) for name, answer in (answers | calls()).items()}


def flat(value: Any, name: str = "") -> dict[str, Any]:
    """Every leaf of an answer by its place in it."""
    if isinstance(value, dict):
        return {place: leaf for key, one in value.items() for place, leaf in flat(one, f"{name} / {key}").items()}
    if isinstance(value, list):
        return {"": 0, **{p: leaf for n, one in enumerate(value) for p, leaf in flat(one, f"{name} / {n}").items()}}
    return {name: value}


def test_answers_are_those_that_are_written_down(folder: Path, request: pytest.FixtureRequest) -> None:
    now = json.loads(json.dumps(found(folder)).replace(f"{folder}/", ""))
    if request.config.getoption("--rewrite"):
        FILE.write_text(json.dumps(now, indent=0) + "\n", encoding="utf-8")
    expected = json.loads(FILE.read_text(encoding="utf-8"))
    assert list(now) == list(expected)
    for question, answer in expected.items():
        was, leaves = flat(answer), flat(now[question])
        assert leaves.keys() == was.keys(), question
        for name, leaf in was.items():
            near = pytest.approx(leaf, rel=1e-7, abs=1e-15) if isinstance(leaf, float) else leaf
            assert leaves[name] == near, f"{question}: {name}"
