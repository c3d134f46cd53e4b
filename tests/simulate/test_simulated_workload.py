"""A kernel on a simulated machine: what it costs, what it says meanwhile, and what it leaves behind."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from octant.build import smpi
from octant.failure import Refusal
from octant.launch import smpirun
from octant.launch.execute import ProcessOutcome
from octant.network import load
from octant.simulate import simulated_workload


@pytest.mark.parametrize(("asked", "expected"), [([], ["samples=5"]), (["samples=50"], ["samples=50"])])
def test_a_simulation_repeats_little_says_what_it_does_and_leaves_nothing(
    asked: list[str], expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr(smpirun, "find", lambda: Path("/usr/bin/smpirun"))
    monkeypatch.setattr(smpi, "harness", lambda: ([], []))
    monkeypatch.setattr(smpi, "program", lambda *_: Path("pingpong"))
    started: list[Sequence[str]] = []

    def killed(
        words: Sequence[str], environment: Mapping[str, str], timeout_s: float, observe: Callable[[float], None]
    ) -> ProcessOutcome:
        started.append(words)
        (Path(environment["TMPDIR"]) / "smpi-left").write_text("SimGrid was killed", encoding="utf-8")
        observe(3.0)
        return ProcessOutcome(-9, True, timeout_s, "")

    monkeypatch.setattr(simulated_workload, "execute", killed)
    said: list[str] = []
    with pytest.raises(Refusal, match=r"\(timed out after 7 s\); use a longer --timeout"):
        simulated_workload.run(load("bgp"), "p2p", asked, 4, 7.0, said.append)
    assert [word for word in started[0] if word.startswith("samples")] == expected
    assert "simulating 4 ranks: 0 records, 3 s of at most 7 s" in said
    assert list(tmp_path.iterdir()) == []
