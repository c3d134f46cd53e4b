"""A check of a program's answer passes if and only if the answer is within its tolerance; what is missing fails."""

import math
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_run import point
from octant.failure import Refusal
from octant.launch.execute import ProcessOutcome
from octant.launch.program import ProgramEnd
from octant.program import ProgramCheck
from octant.record import KeptFile, Result
from octant.request import Subject
from octant.runs.programs import checks
from octant.runs.programs.checks import Answer, CheckResults, FailedCheckError, difference, judge
from octant.runs.programs.reference import Reference, digest_of
from octant.runs.programs.values import Sources
from octant.store import kept

FINITE = st.floats(-1e12, 1e12, allow_subnormal=False)


def answer(folder: Path, found: Mapping[str, float] | None = None, **more: object) -> Answer:
    outputs = {name: folder / name for name in ("stdout", "stderr")}
    for path in outputs.values():
        path.touch()
    end = ProgramEnd(ProcessOutcome(0, False, 1.0, ""), folder, outputs)
    members = {"missing": {}, "environment": {}, "directory": folder, "reference": None, **more}
    return Answer(end, Sources(outputs, folder), found or {}, **members)  # type: ignore[arg-type]


def one(check: ProgramCheck, of: Answer) -> Result:
    (result,) = judge([check], of).results
    assert result.bound is not None
    return result


def baseline(folder: Path, run: Path, check: ProgramCheck, found: Mapping[str, float] | None = None) -> Reference:
    """Return the reference data of the first launch of a baseline."""
    judged = judge([check], answer(folder, found, is_baseline=True))
    return stored(run, judged, found or {})


def stored(run: Path, judged: CheckResults, found: Mapping[str, float]) -> Reference:
    source = run / "source"
    source.mkdir(parents=True)
    for name, content in judged.files.items():
        (source / name).write_bytes(content)
    files: tuple[KeptFile, ...] = kept.store_files(run, "program-x-0", source)
    results = (*(Result(name, value) for name, value in found.items()), *judged.results)
    return Reference(point(results=results, files=files, notes=judged.notes), run)


@given(FINITE, FINITE, st.floats(0, 10), st.booleans())
def test_a_value_passes_if_and_only_if_it_is_within_the_tolerance(
    value: float, expected: float, tolerance: float, relative: bool
) -> None:
    check = ProgramCheck("value", "x", tolerance, relative, expected)
    if relative and expected == 0:
        with pytest.raises(FailedCheckError, match="absolute"):
            difference(check, value, expected)
        return
    scale = abs(expected) if relative else 1.0
    rounding = 1e-15 * (abs(value) + abs(expected)) / scale
    assert difference(check, value, expected) == pytest.approx(abs(value - expected) / scale, rel=1e-12, abs=rounding)


def test_a_tolerance_means_the_decimal_numbers_that_were_printed() -> None:
    assert difference(ProgramCheck("value", "x", 0.1, True, 1.0), 1.1, 1.0) == 0.1
    assert difference(ProgramCheck("value", "x", 0.1, False, 0.2), 0.3, 0.2) == 0.1


def test_a_missing_value_is_a_wrong_answer_and_no_pass(tmp_path: Path) -> None:
    check = ProgramCheck("value", "x", 1e9, expected=1.0)
    result = one(check, answer(tmp_path, missing={"x": "nothing matches"}))
    assert (result.passed, result.where) == (False, "not checked: nothing matches")
    assert math.isnan(result.value)
    assert not one(check, answer(tmp_path, {"y": 1.0})).passed


def test_a_value_is_compared_with_the_first_launch_of_the_baseline(tmp_path: Path) -> None:
    check = ProgramCheck("value", "x", 0.01)
    reference = baseline(tmp_path, tmp_path / "run", check, {"x": 100.0})
    for value, passes in ((100.0, True), (101.0, True), (99.0, True), (101.1, False), (-100.0, False)):
        result = one(check, answer(tmp_path, {"x": value}, reference=reference))
        assert result.passed is passes
        assert bool(result.where) is not passes
    assert one(check, answer(tmp_path, {"x": 7.0}, is_baseline=True)).value == 0
    lost = one(check, answer(tmp_path, {"x": 7.0}))
    assert (lost.passed, lost.where) == (False, "not checked: no launch of the baseline succeeded")


@given(st.binary(max_size=99), st.binary(max_size=300), st.binary(max_size=300), st.integers(1, 50))
def test_bytes_that_differ_are_counted(
    tmp_path_factory: pytest.TempPathFactory, common: bytes, a: bytes, b: bytes, part: int
) -> None:
    folder = tmp_path_factory.mktemp("files")
    a, b = common + a, common + b
    (folder / "a").write_bytes(a)
    (folder / "b").write_bytes(b)
    before, checks._CHUNK_BYTES = checks._CHUNK_BYTES, part
    try:
        result = one(ProgramCheck("file", file="a", reference="b"), answer(folder))
    finally:
        checks._CHUNK_BYTES = before
    apart = [n for n in range(max(len(a), len(b))) if a[n : n + 1] != b[n : n + 1]]
    assert result.value == len(apart)
    assert result.passed is (a == b)
    assert result.where == (f"the first difference is at byte offset {apart[0]}" if apart else "")


@pytest.mark.parametrize("most", [16 << 20, 2])
def test_a_file_is_compared_with_that_of_the_baseline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(kept, "MAX_FILE_BYTES", most)
    check = ProgramCheck("file", file="out.dat")
    (tmp_path / "out.dat").write_bytes(b"abcd")
    reference = baseline(tmp_path, tmp_path / "run", check)
    assert one(check, answer(tmp_path, reference=reference)).passed
    (tmp_path / "out.dat").write_bytes(b"abXde")
    result = one(check, answer(tmp_path, reference=reference))
    assert not result.passed
    assert result.value == 2 if most > 2 else "too large to be stored" in result.where
    (tmp_path / "out.dat").unlink()
    result = one(check, answer(tmp_path, reference=reference))
    assert (result.passed, "does not exist" in result.where) == (False, True)


def test_a_damaged_file_of_the_baseline_passes_nothing(tmp_path: Path) -> None:
    check = ProgramCheck("file", file="out.dat")
    (tmp_path / "out.dat").write_bytes(b"abcd")
    reference = baseline(tmp_path, tmp_path / "run", check)
    (tmp_path / "out.dat").write_bytes(b"abce")
    (tmp_path / "run/files" / reference.point.files[0].stored).write_bytes(b"abce")
    result = one(check, answer(tmp_path, reference=reference))
    assert (result.passed, "damaged" in result.where) == (False, True)


def test_a_file_that_the_launch_did_not_write_fails(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"abcd")
        os.utime(tmp_path / name, (1000.0, 1000.0))
    of = answer(tmp_path)
    stale = Answer(**{**vars(of), "sources": Sources(of.sources.outputs, tmp_path, 2000.0)})
    assert "not written by this launch" in one(ProgramCheck("file", file="a", reference="b"), stale).where
    assert digest_of(tmp_path / "a") == digest_of(tmp_path / "b")


PROGRAM = """import os, sys, pathlib
print("folder", os.getcwd() == sys.argv[1])
print("launch", os.environ["OCTANT_LAUNCH"] == sys.argv[1])
print("output", pathlib.Path(os.environ["OCTANT_STDOUT"]).read_text())
print(os.environ["OF_THE_LAUNCH"], os.path.exists(os.environ["OCTANT_STDERR"]))
sys.exit(int(sys.argv[2]))
"""


@pytest.mark.parametrize("status", [0, 3])
def test_a_command_inspects_the_folder_of_the_launch(tmp_path: Path, status: int) -> None:
    of = answer(tmp_path, environment={"OF_THE_LAUNCH": "set"})
    of.end.outputs["stdout"].write_text("hello")
    words = (sys.executable, "-c", PROGRAM, str(tmp_path), str(status))
    judged = judge([ProgramCheck("command", command=words)], of)
    (result,) = judged.results
    assert (result.value, result.passed, result.where) == (status, status == 0, "set True" if status else "")
    text = judged.files["check-0.txt"].decode()
    assert text == "folder True\nlaunch True\noutput hello\nset True\n", "what it said is stored"


def test_a_command_has_no_shell(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    result = one(ProgramCheck("command", command=("ls", "*; true")), answer(tmp_path))
    assert not result.passed


def test_a_command_that_is_missing_hangs_or_crashes_is_a_wrong_answer(tmp_path: Path) -> None:
    (tmp_path / "no-program").write_text("text")
    crash = (sys.executable, "-c", "import os; os.kill(os.getpid(), 11)")
    for words, why in (
        (("./none",), "cannot be started"),
        (("./no-program",), "cannot be started"),
        (("sleep", "60"), "timed out after 0.3 s"),
        (crash, "signal 11"),
    ):
        result = one(ProgramCheck("command", command=words), answer(tmp_path, limit_s=0.3))
        assert (result.passed, why in result.where) == (False, True), result.where
        assert result.text.startswith("exit status of")
        assert " could not be checked (" in result.text
        assert "nan" not in result.text


@pytest.mark.parametrize(("reference", "why"), [("nope.dat", "No such file"), ("right-{n}.dat", "right-2.dat")])
def test_a_reference_that_is_missing_is_refused_before_the_first_launch(
    tmp_path: Path, reference: str, why: str
) -> None:
    (tmp_path / "right-1.dat").touch()
    check = ProgramCheck("file", file="out.dat", reference=reference)
    subject = Subject(command=("./app",), directory=str(tmp_path), checks=(check,))
    cells = [{"n": "1"}, {"n": "2"}]
    with pytest.raises(Refusal, match=why):
        checks.check_references(subject, cells)
    checks.check_references(replace(subject, before=(("cp", "a", "b"),)), cells)
    for name in ("nope.dat", "right-2.dat"):
        (tmp_path / name).touch()
    checks.check_references(subject, cells)


def test_a_wrong_value_has_the_digits_in_which_it_differs(tmp_path: Path) -> None:
    check = ProgramCheck("value", "v", 1e-9, expected=1.6449340668)
    assert one(check, answer(tmp_path, {"v": 1.6449341668})).where == "1.6449342 instead of 1.6449341"
    assert Result("v", 0.0010000001, bound=0.001).text == "v is 0.0010000001 where at most 0.001 is right"


def test_a_file_unlike_that_of_a_baseline_that_was_too_large_is_wrong_and_was_checked(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("other")
    check = ProgramCheck("file", file="out")
    known = Reference(point(notes={"baseline-0 SHA-256": "0" * 64}), tmp_path)
    assert not one(check, answer(tmp_path, reference=known)).where.startswith("not checked")
