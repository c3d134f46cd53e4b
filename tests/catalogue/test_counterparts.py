"""What became of the published settings: every word finds its entries, and every line that is shown can be used."""

import dataclasses
import functools
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from octant import catalogue
from octant.catalogue.lookup import documented_words, search, similar
from octant.cli import application
from octant.failure import Refusal
from octant.machine.hwloc import read_synthetic
from octant.mpi import neutral, settings
from octant.mpi.inventory import Inventory, linked, parse_mpivars, parse_ompi_info
from octant.placement.expressions import parse_place
from octant.report.machine.settings import example, found_text, neutral_text
from paths import DATA

NAMES = sorted({setting.name for setting in catalogue.settings()})


@pytest.mark.parametrize(
    ("word", "count"),
    [
        ("-qhot", 10),
        ("mcm_affinity_options", 1),
        ("memory affinity", 6),
        ("tprof", 2),
        ("vmo", 2),
        ("LDR_CNTRL", 1),
        ("execrset", 1),
        ("MP_EAGER_LIMIT", 3),
        ("huge pages", 4),
    ],
)
def test_a_word_finds_its_settings(word: str, count: int) -> None:
    """Counted by hand in the documents' lists."""
    assert len(search(word)) == count
    assert search(word.upper()) == search(word)
    assert search(f"#@{word.lstrip('-')}") == search(word)


def test_every_name_and_every_flag_of_a_set_finds_its_setting() -> None:
    for setting in catalogue.settings():
        flags = re.findall(r"(?:^|[ ,/])(-[A-Za-z]\w+)", f"{setting.name},{setting.value}")
        for word in (setting.name, *setting.aliases, *flags):
            assert setting in search(word), (word, setting.name)
        assert search(setting.name)[0].name == setting.name


def test_names_of_today_find_what_they_replace() -> None:
    assert {s.name for s in search("UCX_RNDV_THRESH")} >= {"MP_EAGER_LIMIT", "MP_BULK_MIN_MSG_SIZE"}
    assert {s.name for s in search("--mem-bind")} >= {"MEMORY_AFFINITY", "mcm_mem_req"}
    assert search("OMPI_MCA_btl_sm_eager_limit") == search("btl_sm_eager_limit") != ()
    assert {s.name for s in search("OpenBLAS")} >= {"ESSL"}
    assert search("single-copy-threshold")[0].name == "MP_SHM_ATTACH_THRESH"


def test_beginnings_and_other_separators_count_where_whole_words_fit_nothing() -> None:
    assert "tprof" in {s.name for s in search("tpr")}
    assert "tprof" not in {s.name for s in search("perf")[:1]}  # a whole word, so no beginning
    assert search("huge-pages") == search("huge pages")
    assert search("") == search("-") == search("nonsense_name") == ()


def test_misspelt_words_have_neighbours() -> None:
    words = list(documented_words())
    assert similar("MP_EAGER_LIMITS", words)[0] == "MP_EAGER_LIMIT"
    assert "tprof" in similar("tporf", words)
    assert similar("nonsense_name", words) == []
    assert similar("-", words) == similar("", words) == [], "no word is no misspelling of no word"


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_every_name_shows_a_line_to_apply_and_its_evidence(width: int) -> None:
    """At every width: lines fit unless one word is longer, and what is copied is the whole command."""
    shown = 0
    for name in NAMES:
        text = found_text(name, search(name), width)
        for line in text.splitlines():
            assert len(line) <= width or len(line.removesuffix(" \\").split()) == 1, line
        copied = text.replace(" \\\n", " ")
        counterparts = [c for setting in search(name) if setting.name == name for c in setting.counterparts]
        for counterpart in counterparts:
            assert counterpart.line.split() == [w for w in counterpart.line.split() if w in copied.split()], name
            assert re.search(rf"^  {counterpart.verified} +\S", text, re.MULTILINE), name
        shown += bool(counterparts)
    assert (shown, len(NAMES)) == (164, 165)


def test_texts_stand_in_one_column() -> None:
    """Labels in column 2, texts in 17, commands in 19."""
    for width in (80, 100, 160):
        rows = found_text("MP_EAGER_LIMIT", search("MP_EAGER_LIMIT"), width).splitlines()[2:]
        for row in rows:
            assert re.match(r"$|  (?=\S)[\w -]{13}  \S| {17}\S| {19}\S| {21}\S|  \S", row), row


def test_a_long_command_is_one_command_for_the_shell() -> None:
    text = found_text("MP_EAGER_LIMIT", search("MP_EAGER_LIMIT"), 80)
    (line,) = re.findall(r"MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE(?:.*\\\n)*.*", text)
    assert "\\\n" in line
    words = shlex.split(line.replace("\\\n", ""))
    assert words[-4:] == ["mpiexec", "-n", "2", "./prog"]
    assert len(words) == 7


def test_entries_of_one_value_and_lists_of_several_names() -> None:
    found = search("MP_TASK_AFFINITY")
    assert "Prefers the adapter's domain" not in found_text("MP_TASK_AFFINITY=CORE", found, 80)
    assert "Prefers the adapter's domain" in found_text("MP_TASK_AFFINITY=nothing", found, 80)
    text = found_text("-qhot", search("-qhot"), 80)
    assert text.startswith("10 settings in the documents match -qhot.")
    assert "xlc; xlf" in text
    assert "srun --mem-bind=local ./prog" in found_text("--mem-bind", search("--mem-bind"), 80)


def _octant_lines() -> list[str]:
    lines = {c.line for setting in catalogue.settings() for c in setting.counterparts if c.apply == "octant"}
    asked = {f"octant run p2p --mpi {s.neutral}" for s in catalogue.settings() if "=" in s.neutral}
    return sorted(lines | asked)


@pytest.mark.parametrize("line", _octant_lines())
def test_our_own_lines_are_parsed_by_our_own_command(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parsed, not started; a placement also by the planner's parser, which reads the file of a map."""
    monkeypatch.chdir(tmp_path)
    Path("FILE").write_text("".join(f"{x} {y} {z} 0\n" for x in range(4) for y in range(4) for z in range(4)))
    program, *words = shlex.split(line)
    assert program == "octant"
    command: Any = typer.main.get_command(application())
    context = command.make_context("octant", words)
    while hasattr(command, "resolve_command"):
        name, command, rest = command.resolve_command(context, [*context._protected_args, *context.args])
        context = command.make_context(name, rest, parent=context)
    if "--place" in words:
        parse_place(words[words.index("--place") + 1], read_synthetic("pack:2 numa:1 core:4 pu:2"))


PROPOSALS = sorted({s.neutral for s in catalogue.settings() if "=" in s.neutral})
MPICH = dataclasses.replace(parse_mpivars((DATA / "mpivars-5.0.2.txt").read_text(), "5.0.2"), device="ch4:ucx ofi")
OPENMPI = parse_ompi_info((DATA / "ompi_info-5.0.11.txt").read_text())


def _refusal(proposal: str, inventory: Inventory) -> str:
    """Why `octant run --mpi` refuses it with a library without an InfiniBand adapter; empty: it does not."""
    try:
        settings.read([proposal], inventory, {}, ["eth0"])
    except Refusal as refused:
        return str(refused)
    return ""


@pytest.mark.parametrize("proposal", PROPOSALS)
def test_a_proposal_that_an_installed_library_refuses_says_so_and_who_accepts_it(
    proposal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "library_of", functools.partial(settings.library_of, infiniband=False))
    refused = {title: _refusal(proposal, one) for title, one in (("MPICH 5", MPICH), ("Open MPI 5", OPENMPI))}
    (name, *_) = [s.name for s in catalogue.settings() if s.neutral == proposal]
    text = " ".join(found_text(name, search(name), 100).replace("\\\n", "").split())
    assert f"octant run p2p --mpi {proposal}" in text
    for title, why in refused.items():
        assert (f"Refused by {title}" in text) == bool(why), (title, why)
    own = neutral.find(proposal.partition("=")[0])
    assert own is not None
    accepted = neutral.find_support(own, neutral.read_value(own, proposal.partition("=")[2]))
    assert accepted.by, "a proposal that no library accepts is none"
    assert (f"Accepted by {', '.join(accepted.by)}." in text) == any(refused.values())


@pytest.mark.mpi
@pytest.mark.parametrize("proposal", PROPOSALS)
def test_the_library_that_is_installed_accepts_what_the_answer_says(
    proposal: str, kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OCTANT_KERNELS", str(kernels))
    live = linked()
    own = neutral.find(proposal.partition("=")[0])
    assert own is not None
    accepted = neutral.find_support(own, neutral.read_value(own, proposal.partition("=")[2]))
    title = {"mpich": "MPICH 5", "openmpi": "Open MPI 5"}.get(live.library, "")
    if not live.version.startswith("5") or not title or settings.library_of(live, {}).infiniband:
        pytest.skip("needs MPICH 5 or Open MPI 5, without an InfiniBand adapter")
    said = [why for why in accepted.refused_by if why.startswith(title)]
    assert bool(_refusal(proposal, live)) == bool(said), said


def test_variables_of_lines_for_a_library_are_in_its_inventory() -> None:
    """Else it ignores them; a line for another version says which."""
    known = {"MPICH": set(MPICH.values), "Open MPI": {*OPENMPI.values, *OPENMPI.aliases}}
    lines = {c.id: c for setting in catalogue.settings() for c in setting.counterparts}
    found: dict[str, list[str]] = {}
    for one in lines.values():
        text = f"{one.line} {one.name}"
        used = {"MPICH": re.findall(r"\bMPIR_CVAR_\w+", text), "Open MPI": re.findall(r"OMPI_MCA_(\w+)", text)}
        for library, names in used.items():
            for name in {*names} - known[library]:
                found.setdefault(one.system, []).append(name)
    older = {system for system in found if re.search(r"\b4\.\d|with SHARP", system)}
    assert found.keys() - older == set(), found


def test_a_setting_maps_to_a_value_of_the_neutral_setting() -> None:
    for old in catalogue.settings():
        name, _equals, value = old.neutral.partition("=")
        own = neutral.find(name)
        assert (own is None) == (not name), old.neutral
        if own and value:
            neutral.read_value(own, value)


@pytest.mark.parametrize("setting", neutral.settings(), ids=lambda setting: setting.name)
def test_a_neutral_setting_shows_its_variables_and_an_example_that_is_read(setting: neutral.NeutralSetting) -> None:
    neutral.read_value(setting, example(setting))
    for width in (60, 80, 160):
        text = neutral_text(setting, None, width)
        assert f"--mpi {setting.name}={example(setting)}" in re.sub(r" \\\n +", " ", text)
        assert all(name in text for one in setting.maps for name in one.names())
        assert all(one.cannot.split()[0] in text for one in setting.maps if one.cannot)


def test_the_example_of_a_word_is_one_that_the_first_libraries_of_the_table_take() -> None:
    wait = neutral.find("wait-mode")
    assert wait is not None
    assert example(wait) == "yield"  # MPICH 5 cannot poll, Open MPI cannot sleep


def _run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(application(), ["settings", *words], env={"COLUMNS": "100"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout


def test_flags_and_phrases_are_words_of_the_command() -> None:
    assert _run("-qhot") == _run("--", "-qhot")
    assert "of gcc" not in _run("-p")[1]
    assert _run("huge", "pages") == _run("huge pages")
    head, *rest = _run("--mem-bind")[1].splitlines()
    assert head.startswith("--mem-bind  (Slurm")
    assert "MEMORY_AFFINITY" in " ".join(rest)
    assert "tprof" in _run("-qhot", "tprof")[1]
    assert json.loads(_run("--json", "tprof")[1])["documents"][0]["counterparts"][0]["id"] == "perf"
    assert json.loads(_run("-qhot", "--json")[1])["knobs"] == []
    assert "Usage" in _run("-h")[1]


def test_an_unknown_word_names_the_next_step() -> None:
    for nothing in ("-", "=", "ompi_mca_"):
        with pytest.raises(Refusal, match="; `octant settings` and `octant catalogue settings` list them"):
            _run(nothing)
    with pytest.raises(Refusal, match="no setting 'MP_EAGER_LIMITS'; did you mean MP_EAGER_LIMIT") as refusal:
        _run("MP_EAGER_LIMITS")
    assert refusal.value.code == 2
    with pytest.raises(Refusal, match="`octant catalogue settings` list them"):
        _run("nonsense_name", "--json")
