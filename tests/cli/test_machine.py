"""`octant machine` and `octant doctor`: what they print, and their exit codes."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import trees
from noise_runs import noise_point, noise_summary
from octant import advice
from octant.advice import Advice, Diagnosis
from octant.advice.fitness import judge_fitness
from octant.cli import _noise_test, application
from octant.failure import Exit, Refusal
from octant.machine.cpusets import cpus_text
from octant.machine.discover import discover
from octant.machine.hwloc import read_synthetic
from octant.report.machine import advice as advice_writer
from octant.report.machine import text as machine_writer
from octant.report.machine.text import instructions
from octant.runs.session import run_all
from octant.software.surroundings import Surroundings

RUN = CliRunner()


def test_json_is_the_machine(tmp_path: Path) -> None:
    root = trees.tree("laptop-6p8e", tmp_path)
    result = RUN.invoke(application(), ["machine", "--from", str(root), "--json"])
    assert result.exit_code == 0
    assert trees.from_json(json.loads(result.stdout)) == discover(root)


@pytest.mark.parametrize("name", [*trees.described(), "kvm-xeon-2cpu"])
def test_every_machine_is_drawn_whole(name: str) -> None:
    machine = trees.machine(name)
    text = machine_writer.as_text(machine)
    drawing = text[: text.find("instruction sets")]
    for core in machine.topology.groups("core"):
        numbers = cpus_text(core)
        assert f"[{numbers}]" in drawing or f"({numbers})" in drawing
    assert drawing.count("NUMA ") >= len(machine.topology.numa)
    assert ("Sources disagree" in text) == bool(machine.disagreements)
    assert max(map(len, text.splitlines())) <= 100


def test_the_drawing_of_many_caches() -> None:
    text = machine_writer.as_text(trees.machine("epyc-2s-nps4"))
    assert "    L3 32 MiB  [0] [1] [2] [3] [4] [5] [6] [7]\n" in text
    assert "L3      32 MiB  64 B      16  8 cores" in text


def test_a_single_core_is_drawn() -> None:
    one = replace(trees.machine("board-no-numa"), topology=read_synthetic("pack:1 core:1 pu:1"))
    assert "    [0]\n" in machine_writer.as_text(one)


def test_cores_that_may_not_be_used_are_drawn_otherwise() -> None:
    text = machine_writer.as_text(trees.machine("container-4of32"))
    assert "(3) [4] [5] (6)" in text
    assert "4 usable here" in text


def test_instruction_sets() -> None:
    assert (
        instructions(frozenset({"sse2", "avx", "avx2", "fma", "avx512f", "avx512_vnni"}))
        == "AVX-512 (f, vnni), AVX2, FMA"
    )
    assert instructions(frozenset({"asimd", "sve", "bf16"})) == "SVE, BF16"
    assert instructions(frozenset()) == ""


def test_recording_and_reading_back(tmp_path: Path) -> None:
    root, copy = trees.tree("laptop-6p8e", tmp_path), tmp_path / "räcord of mine"
    recorded = RUN.invoke(application(), ["machine", "--from", str(root), "--record", str(copy)])
    assert recorded.exit_code == 0
    assert "files that describe this machine are in" in recorded.stdout
    assert discover(copy).topology == discover(root).topology
    again = RUN.invoke(application(), ["machine", "--from", str(root), "--record", str(copy)])
    assert isinstance(again.exception, Refusal)
    assert again.exception.code == 1
    assert "not empty" in str(again.exception)


def test_no_machine_is_refused(tmp_path: Path) -> None:
    result = RUN.invoke(application(), ["machine", "--from", str(tmp_path / "nothing")])
    assert isinstance(result.exception, Refusal)
    assert "No such file" in str(result.exception)
    assert result.exception.code == 2


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = RUN.invoke(application(), ["machine", "--record", str(tmp_path / "file" / "new")])
    assert isinstance(result.exception, Refusal)
    assert "file/new (Not a directory); try another folder" in str(result.exception)


def said(severity: advice.Severity) -> Advice:
    return Advice(
        f"a {severity} title", severity, {"/a/file": "17"}, ("# first", "do --this"), "of a reason", "some_rule"
    )


@pytest.mark.parametrize(
    ("found", "code"),
    [([], 0), ([said("note")], 0), ([said("slows")], 0), ([said("spoils"), said("note")], Exit.UNFIT)],
)
def test_the_doctor_fails_only_on_what_spoils(found: list[Advice], code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advice, "diagnose", lambda _facts: Diagnosis(tuple(found)))
    monkeypatch.setattr("octant.software.observe.observe", lambda *_: Surroundings())
    result = RUN.invoke(application(), ["doctor", "--static"])
    assert result.exit_code == code
    data = json.loads(RUN.invoke(application(), ["doctor", "--static", "--json"]).stdout)
    assert [row["severity"] for row in data["advice"]] == [entry.severity for entry in found]
    assert data["verdict"] == ("not fit" if code else "fit with reservations")
    assert (data["noise_test"], data["not_tested"]) == (None, "--static")


@pytest.mark.parametrize(
    ("share", "verdict", "code"), [(0.0, "fit", 0), (0.02, "fit with reservations", 0), (0.4, "not fit", Exit.UNFIT)]
)
def test_the_noise_test_decides_the_exit_code(
    share: float, verdict: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(advice, "diagnose", lambda _facts: Diagnosis(()))
    monkeypatch.setattr("octant.software.observe.observe", lambda *_: Surroundings())
    summary = noise_summary(noise_point({0: 0.0, 1: share}))
    monkeypatch.setattr(_noise_test, "measure_noise", lambda _machine: summary)
    result = RUN.invoke(application(), ["doctor", "--json"])
    assert result.exit_code == code
    data = json.loads(result.stdout)
    assert data["verdict"] == verdict
    assert data["noise_test"]["by_hardware_thread"]["1"]["causes"]["other processes"] == pytest.approx(share)
    shown = RUN.invoke(application(), ["doctor"]).stdout
    assert f"This machine is {verdict.replace('fit', 'fit for benchmarking', 1)}" in shown


def test_a_noise_test_that_is_impossible_is_a_reservation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advice, "diagnose", lambda _facts: Diagnosis(()))
    monkeypatch.setattr("octant.software.observe.observe", lambda *_: Surroundings())
    monkeypatch.setattr("tempfile.tempdir", "/no/such/folder")
    result = RUN.invoke(application(), ["doctor", "--json"])
    data = json.loads(result.stdout)
    assert (result.exit_code, data["verdict"]) == (0, "fit with reservations")
    assert data["not_tested"] == (
        "cannot create a temporary folder (No such file or directory); set TMPDIR to a writable folder"
    )


def test_the_doctor_can_be_stopped_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def stopped(*_words: object, **_named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("octant.software.observe.observe", lambda *_: Surroundings())
    monkeypatch.setattr("octant.runs.session.execute_run", stopped)
    result = RUN.invoke(application(), ["doctor"])
    assert result.exit_code in (1, 130)  # 130 by `main`
    assert "stopped during the noise test" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("kernels")
def test_the_doctor_measures_noise_without_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of the store cannot be written, and the run is not kept; the test ends after the time that it has."""
    (tmp_path / "octant-store").write_text("a file")
    (tmp_path / "tmp").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    monkeypatch.setattr("octant.software.observe.observe", lambda *_: Surroundings())
    monkeypatch.setattr(_noise_test, "_until", lambda launches: run_all(launches[:1]))
    data = json.loads(RUN.invoke(application(), ["doctor", "--json"]).stdout)
    test = data["noise_test"]
    assert {int(number) for number in test["by_hardware_thread"]} == {cpu.os for cpu in discover().topology.usable()}
    assert test["launches"] == 1
    assert test["lost"] == pytest.approx(sum(test["causes"].values()), abs=1e-9)
    assert list((tmp_path / "tmp").iterdir()) == []


def test_advice_for_people() -> None:
    quiet = judge_fitness(noise_summary(noise_point({0: 0.0, 1: 0.02})), Diagnosis(()))
    assert advice_writer.as_text(Diagnosis((said("spoils"), said("note"))), quiet).splitlines() == [
        "Invalidates measurements",
        "",
        "  a spoils title  (some_rule)",
        "    seen  /a/file: 17",
        "    why   of a reason",
        "    fix   # first",
        "          do --this",
        "",
        "Notes",
        "",
        "  a note title  (some_rule)",
        "    seen  /a/file: 17",
        "    why   of a reason",
        "    fix   # first",
        "          do --this",
        "",
        "Noise test",
        "",
        "  1 launch on 2 hardware threads, 1.0 s on each",
        "",
        "    lost time          1.0 %; hardware thread 1 lost most: 2.0 %",
        "    causes             other processes 1.0 %",
        "    excess in samples  1.0 %",
        "    clock              2.60 GHz, no change detected",
        "    other load         0.00 hardware threads",
        "",
        "invalidates measurements: 1; reduces performance: 0; notes: 1",
        "",
        "This machine is fit for benchmarking with reservations, because:",
        "  reservation: hardware thread 1 lost 2.0 % of its time, mostly to other processes",
    ]
    fit = judge_fitness(noise_summary(noise_point({0: 0.0, 1: 0.0})), Diagnosis(()))
    assert advice_writer.as_text(Diagnosis(()), fit).endswith("\n\nThis machine is fit for benchmarking.")


def test_lines_to_copy_are_never_folded() -> None:
    line = "echo " + "x" * 200
    entry = Advice("title", "note", {"file": "1"}, (line,), "why", "rule")
    shown = advice_writer.as_text(Diagnosis((entry,)), judge_fitness(None, Diagnosis(()), "--static"))
    assert f"    fix   {line}" in shown.splitlines()


def test_the_page_of_a_rule() -> None:
    result = RUN.invoke(application(), ["doctor", "--explain", "governor"])
    assert result.stdout.startswith("The frequency governor lets the clock follow the load.\n")
    wrong = RUN.invoke(application(), ["doctor", "--explain", "governer"])
    assert "did you mean governor?" in str(wrong.exception)


def test_comparison_with_a_published_machine(tmp_path: Path) -> None:
    """The whole table of a recorded machine, aligned, without anything measured."""
    root = trees.tree("power9-2s-smt4", tmp_path)
    words = ["machine", "--from", str(root), "--beside", "power575", "--store", str(tmp_path / "none")]
    shown = RUN.invoke(application(), words)
    assert shown.exit_code == 0
    lines = shown.stdout.splitlines()
    place = lines[2].index("power575")
    columns = {line[:place].split("  ")[1]: line for line in lines if line.startswith("  ") and line[2:3] != " "}
    assert columns["stated clock"][place:] == "4.70 GHz"
    assert columns["instructions in flight, two threads"][place:] == "184"
    assert "needs 2 hardware threads" not in shown.stdout
    assert "     octant run core pattern=rob-size\n" in shown.stdout
    assert max(map(len, lines)) <= 100
    data = json.loads(RUN.invoke(application(), [*words, "--json"]).stdout)
    rows = {(row["group"], row["name"]): row for row in data["rows"]}
    assert rows["Core", "stated clock"]["there"]["value"] == 4.7e9
    assert rows["Core", "instructions in flight, one thread"]["here"] is None
    assert rows["Peak", "one core, double precision"]["there"]["source"] == "assumed"
    assert rows["Caches", "L2"]["here"]["source"] == "stated"


def test_comparison_with_a_recorded_and_with_an_unknown_machine(tmp_path: Path) -> None:
    root, nowhere = trees.tree("epyc-2s-nps4", tmp_path), ["--store", str(tmp_path / "none")]
    shown = RUN.invoke(application(), ["machine", "--from", str(root), "--beside", str(root), *nowhere])
    assert shown.exit_code == 0
    lines = shown.stdout.splitlines()
    row, place = next(line for line in lines if line.startswith("  L3")), lines[2].rindex("epyc-2s-nps4")
    assert row[place:] == "32 MiB, 8 cores"
    assert row[:place].removeprefix("  L3").strip() == row[place:]
    wrong = RUN.invoke(application(), ["machine", "--from", str(root), "--beside", "power57", *nowhere])
    assert isinstance(wrong.exception, Refusal)
    assert wrong.exception.code == 2
    assert "did you mean power575 or power570" in str(wrong.exception)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.synthetic", None, "No such file"),
        ("none", None, "No such file"),
        ("text.xml", "hello", "is not a topology .expected an hwloc XML file"),
        ("zeros.xml", "\0\1\2", "is not a topology .expected an hwloc XML file"),
        ("empty.synthetic", "", "the file is empty"),
        (
            "values.toml",
            "packages = 2",
            "values.toml is not a topology .expected an hwloc XML file, a recorded tree or",
        ),
        ("commas.synthetic", "pack:2,core:4,pu:2", "separate levels by blanks"),
        (
            "memory.xml",
            '<topology version="3.0"><object type="Machine"><object type="NUMANode" os_index="0" local_memory="-1"/>'
            '<object type="PU" os_index="0" cpuset="0x1"/></object></topology>',
            "cannot read the machine .*memory.xml",
        ),
    ],
)
def test_a_file_that_holds_no_machine_is_named_with_the_reason(
    name: str, content: str | None, message: str, tmp_path: Path
) -> None:
    file = tmp_path / name
    if content is not None:
        file.write_text(content)
    for words in (["machine", "--from", str(file)], ["place", "--place", "1x1", "--on", str(file)]):
        result = RUN.invoke(application(), words)
        assert result.exit_code != 0
        assert re.search(message, str(result.exception)), result.exception


def test_a_file_of_another_kind_suggests_the_topology_of_the_same_name(tmp_path: Path) -> None:
    (tmp_path / "node.toml").write_text("packages = 2")
    (tmp_path / "node.synthetic").write_text("core:2 pu:1")
    result = RUN.invoke(application(), ["machine", "--from", str(tmp_path / "node.toml")])
    assert str(result.exception).endswith(f"did you mean {tmp_path / 'node.synthetic'}?")


def test_a_description_is_a_machine() -> None:
    result = RUN.invoke(application(), ["machine", "--from", "pack:2 core:3 pu:1"])
    assert "6 cores" in result.stdout


def test_a_machine_without_a_name_is_refused() -> None:
    result = RUN.invoke(application(), ["place", "--place", "1x1", "--on", " "])
    assert "no machine is named" in str(result.exception)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("proc/meminfo", "MemTotal: -5 kB"),
        ("sys/devices/system/node/node0/meminfo", "Node 0 MemTotal: 99999999999999999999 kB"),
        ("sys/devices/system/cpu/online", "3-0"),
    ],
)
def test_the_file_of_a_bad_number_is_named(path: str, text: str, tmp_path: Path) -> None:
    root = trees.tree("board-no-numa", tmp_path)
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)
    with pytest.raises(ValueError, match=f"{path}: .*is not a (memory size|list of CPUs)"):
        discover(root)
