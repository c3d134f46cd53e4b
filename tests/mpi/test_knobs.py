"""MPI settings: the table of equivalents against recorded inventories, and the check of names."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from octant.catalogue import settings as published
from octant.cli import settings as command
from octant.failure import Refusal
from octant.mpi.inventory import Inventory, inventory, parse_mpivars, parse_ompi_info
from octant.mpi.knobs import Equivalent, check_names, check_values, find, knobs, presence
from octant.report.machine import settings as writer
from paths import DATA

MPICH = parse_mpivars((DATA / "mpivars-5.0.2.txt").read_text(), "5.0.2")
OPENMPI = parse_ompi_info((DATA / "ompi_info-5.0.11.txt").read_text())
NEUTRAL = [
    "eager limit", "rendezvous threshold", "shared-memory attach threshold", "bulk transfer", "wait mode",
    "parameter checks", "connection set-up", "collective algorithm/offload", "receive buffer", "striping/rails",
]  # fmt: skip


def said(settings: Mapping[str, str], known: Inventory) -> list[tuple[bool, str]]:
    return [(p.refused, p.text) for p in check_names(settings, known)]


def test_inventories_are_read_whole() -> None:
    """465 CVARs and 597 MCA parameters, as counted by hand on these versions."""
    assert (MPICH.version, len(MPICH.values)) == ("5.0.2", 465)
    assert (OPENMPI.version, len(OPENMPI.values)) == ("5.0.11", 597)
    assert MPICH.values["MPIR_CVAR_POLLS_BEFORE_YIELD"] == "1000"
    assert OPENMPI.values["coll_han_priority"] == "35"
    assert OPENMPI.aliases["btl_vader_eager_limit"] == "btl_sm_eager_limit"


def test_a_tool_that_prints_the_inventory_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, body in (("mpivars", f"cat {DATA}/mpivars-5.0.2.txt"), ("mpichversion", "echo 'MPICH Version: 5.0.2'")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setattr("sysconfig.get_path", lambda _name: str(tmp_path))
    assert inventory("mpich") == MPICH
    (tmp_path / "mpivars").write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(ValueError, match="mpivars is not installed or fails"):
        inventory("mpich")


def test_intel_mpi_is_asked_by_its_own_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The form of impi_info 2021.18.1; it lists names, and no values that are in use."""
    listing = (
        "I_MPI_PIN \n  MPI Datatype:\n    MPI_CHAR\n  Description:\n    I_MPI_PIN=<arg>\nI_MPI_DEBUG\n  MPI Datatype:\n"
    )
    banner = "Intel(R) MPI Library for Linux* OS, Version 2021.18 Build 20260415 (id: 1)"
    for name, text in (("impi_info", listing), ("mpiexec.hydra", banner)):
        (tmp_path / name).write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setattr("sysconfig.get_path", lambda _name: str(tmp_path))
    assert inventory("intelmpi") == Inventory("intelmpi", "2021.18", {"I_MPI_PIN": "", "I_MPI_DEBUG": ""})
    assert said({"I_MPI_PIM": "1"}, inventory("intelmpi"))[0][0]
    (tmp_path / "impi_info").write_text("#!/bin/sh\nexit 127\n")
    with pytest.raises(ValueError, match="impi_info is not installed or fails"):
        inventory("intelmpi")


@pytest.mark.parametrize("known", [MPICH, OPENMPI], ids=["mpich", "openmpi"])
def test_table_agrees_with_the_inventory(known: Inventory) -> None:
    """A name is there exactly in the versions for which the table says so."""
    for knob in knobs():
        for entry in knob.equivalents:
            if entry.library == known.library:
                assert presence(entry, known).startswith("present") == entry.within(known.version), entry.name


def test_every_neutral_name_and_every_mpi_variable_of_the_documents_is_explained() -> None:
    names = {knob.name for knob in knobs()}
    assert names >= set(NEUTRAL)
    ours = {original.name for knob in knobs() for original in knob.originals}
    launch_only = {
        "MP_PROCS", "MP_INFOLEVEL", "MP_HOSTFILE", "MP_STDINMODE", "MP_EULIB", "MP_EUILIB", "MP_CLOCK_SOURCE",
    }  # fmt: skip
    theirs = {s.name for s in published() if s.name.startswith(("MP_", "LAPI_", "DCMF_", "XLSMPOPTS"))}
    assert theirs - ours <= launch_only


def test_find_by_any_name() -> None:
    for name in (
        "MP_EAGER_LIMIT",
        "eager limit",
        "btl_sm_eager_limit",
        "OMPI_MCA_btl_sm_eager_limit",
        "UCX_RNDV_THRESH",
    ):
        assert "eager limit" in [knob.name for knob in find(name)[0]]
    assert find("MP_PROCS")[1]
    with pytest.raises(ValueError, match="did you mean MP_EAGER_LIMIT"):
        find("MP_EAGER_LIMITS")


def test_versions() -> None:
    entry = Equivalent(library="openmpi", name="x", since="4.1", until="5.0")
    assert [entry.within(v) for v in ("4.0.3", "4.1.0", "4.1.6", "5.0", "5.0.0")] == [False, True, True, False, False]


def test_typos_are_refused_with_the_nearest() -> None:
    assert said({"MPIR_CVAR_NOLOCL": "1"}, MPICH)[0][0]
    assert "did you mean MPIR_CVAR_NOLOCAL" in said({"MPIR_CVAR_NOLOCL": "1"}, MPICH)[0][1]
    for name in ("OMPI_MCA_btl_sm_eager_limt", "btl_sm_eager_limt"):
        assert "did you mean btl_sm_eager_limit" in said({name: "1"}, OPENMPI)[0][1]


def test_names_of_other_versions_are_refused_with_the_version() -> None:
    assert "removed in 5.0" in said({"MPIR_CVAR_CH4_OFI_EAGER_MAX_MSG_SIZE": "1"}, MPICH)[0][1]
    assert "removed in 5.0" in said({"btl_openib_eager_limit": "1"}, OPENMPI)[0][1]
    assert said({"btl_vader_eager_limit": "1"}, OPENMPI) == []


def test_removed_names_and_values_are_refused_with_what_takes_their_place() -> None:
    intel = Inventory("intelmpi", "2021.18.1", {"I_MPI_FABRICS": "shm:ofi"})
    ((refused, text),) = said({"I_MPI_DAPL_PROVIDER": "x"}, intel)
    assert refused
    assert "does not have it (removed in 2019)" in text
    assert "Use I_MPI_OFI_PROVIDER or I_MPI_OFI_NIC_LIST." in text
    ((refused, text),) = said({"I_MPI_SHM_FBOX": "1"}, intel)
    assert refused
    assert "does not have it (already missing in 2021.1) and ignores it with a warning" in text
    ((refused, text),) = said({"I_MPI_DAPL_PROVIDER": "x"}, MPICH)
    assert not refused
    assert (
        "belongs to Intel MPI, and the library in use is MPICH 5.0.2; I_MPI_DAPL_PROVIDER is not in Intel MPI from 2019"
        in text
    )
    assert "Use MPIR_CVAR_PROGRESS_TIMEOUT." in said({"MPIR_CVAR_DEBUG_PROGRESS_TIMEOUT": "1"}, MPICH)[0][1]
    (problem,) = check_values({"I_MPI_FABRICS": "shm:dapl"}, intel)
    assert problem.refused
    assert "the value dapl was removed in Intel MPI 2019; use ofi" in problem.text
    assert check_values({"I_MPI_FABRICS": "shm:ofi"}, intel) == ()
    (problem,) = check_values({"OMPI_MCA_btl": "self,openib"}, OPENMPI)
    assert "the value openib was removed in Open MPI 5.0" in problem.text


def test_other_prefixes_of_the_same_library_are_read() -> None:
    """MPICH reads MPICH_X and MPIR_PARAM_X as MPIR_CVAR_X; other names with MPICH_ are Cray's."""
    assert said({"MPICH_ASYNC_PROGRESS": "1", "MPIR_PARAM_NOLOCAL": "1"}, MPICH) == []
    assert "belongs to Cray MPICH" in said({"MPICH_OFI_NIC_POLICY": "GPU"}, MPICH)[0][1]


def test_knobs_of_other_libraries_are_without_effect() -> None:
    refused, text = said({"MP_EAGER_LIMIT": "65536"}, MPICH)[0]
    assert not refused
    assert "belongs to IBM's MPI" in text
    assert text.endswith("MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD or MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE")
    assert "belongs to Open MPI" in said({"OMPI_MCA_btl_sm_eager_limit": "1"}, MPICH)[0][1]
    assert "not used by ch4 builds" in said({"MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE": "1"}, MPICH)[0][1]
    assert said({"PATH": "/bin", "UCX_TLS": "tcp", "OMP_NUM_THREADS": "2"}, MPICH) == []


def test_a_tuned_sweep_measures_nothing_until_han_is_lowered() -> None:
    name, rules = "OMPI_MCA_coll_tuned_allreduce_algorithm", "OMPI_MCA_coll_tuned_use_dynamic_rules"
    assert ["dynamic_rules" in t or "is higher than that of tuned" in t for _r, t in said({name: "3"}, OPENMPI)] == [
        True,
        True,
    ]
    assert "the priority of han (35) is higher than that of tuned (30)" in said({name: "3", rules: "1"}, OPENMPI)[0][1]
    assert said({name: "3", rules: "true", "OMPI_MCA_coll_han_priority": "0"}, OPENMPI) == []
    assert said({name: "3", rules: "true", "OMPI_MCA_coll": "^han"}, OPENMPI) == []


@pytest.mark.mpi
@pytest.mark.parametrize("library", ["mpich", "openmpi"])
def test_live_inventory(library: str) -> None:
    try:
        known = inventory(library)
    except ValueError:
        pytest.skip(f"{library} is not installed here")
    assert len(known.values) > 300
    assert said({"MPIR_CVAR_NO_SUCH_THING": "1", "OMPI_MCA_no_such_thing": "1"}, known)


def run(*words: str) -> tuple[int, str]:
    app = typer.Typer()
    command.register(app)
    result = CliRunner().invoke(app, list(words), env={"COLUMNS": "140"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout


def test_command() -> None:
    code, text = run()
    assert code == 0
    assert "eager limit" in text
    code, text = run("MP_WAIT_MODE")
    assert "OMPI_MCA_mpi_yield_when_idle=0 mpiexec" in text
    text = run("mpi_yield_when_idle")[1]
    assert text.startswith("OMPI_MCA_mpi_yield_when_idle  (Open MPI)\n")
    assert "older names    MP_WAIT_MODE" in text
    text = run("wait-mode")[1]
    assert "octant run p2p --mpi wait-mode=yield" in text  # MPICH 5 cannot poll
    assert "poll: OMPI_MCA_mpi_yield_when_idle=0" in text
    assert "cannot         poll: it yields between polls" in text
    found = json.loads(run("wait mode", "--json")[1])
    assert found["knobs"][0]["originals"][0]["name"] == "MP_WAIT_MODE"
    with pytest.raises(Refusal, match="no setting 'nonsense_name'"):
        run("nonsense_name")
    with pytest.raises(Refusal, match=r"no setting 'MP_EAGER_LIMITS'; did you mean MP_EAGER_LIMIT"):
        run("MP_EAGER_LIMITS")
    assert run("eager-limit") == run("eager limit") == run("Eager_Limit=64KiB") == run("eager limit=4")
    assert run("MP_WAIT_MODE=poll") == run("MP_WAIT_MODE")
    found = json.loads(run("MP_WAIT_MODE", "eager-limit", "--json")[1])
    assert [knob["name"] for knob in found["knobs"]] == ["wait mode", "eager limit"]


def test_check_from_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("octant.mpi.inventory.inventory", lambda _library: MPICH)
    code, text = run("--check", "MPIR_CVAR_NOLOCL=1", "MP_EAGER_LIMIT=4096")
    assert code == 2
    assert text.startswith("cannot set MPIR_CVAR_NOLOCL")
    assert "\nMP_EAGER_LIMIT has no effect: it belongs to" in text
    code, text = run("--check", "MPIR_CVAR_NOLOCAL=1")
    assert (code, "1 MPI settings checked" in text) == (0, True)
    code, text = run("--check", "btl_sm_eager_limit=1", "connection-set-up=yes", "eager-limit=4KiB")
    assert code == 0
    assert text.startswith("connection-set-up has no effect: MPICH 5.0.2 has no such setting")
    assert "belongs to Open MPI" in text
    for unknown, hint in (("FOO=1", "lists them"), ("eager-limits=1", "eager-limit"), ("XYZ_NO_SUCH", "lists them")):
        with pytest.raises(Refusal, match=f"unknown setting .*{hint}"):
            run("--check", unknown)


def test_what_the_library_alone_knows_is_not_called_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("octant.mpi.inventory.inventory", lambda _library: OPENMPI)
    text = run("OMPI_MCA_btl_tcp_latency", "--library", "openmpi")[1]
    assert "Open MPI 5.0.11 supports it, current value 0; Octant does not describe it." in text
    text = run("OMPI_MCA_coll_tuned_bcast_algorithm", "--library", "openmpi")[1]
    assert "installed      Open MPI 5.0.11 supports it, current value ignore." in text
    with pytest.raises(Refusal, match="no setting 'coll_tuned_bcast_algoritm'; did you mean"):
        run("coll_tuned_bcast_algoritm", "--library", "openmpi")


@pytest.mark.parametrize("name", ["MP_EAGER_LIMIT", "MP_CC_SCRATCH_BUF", "XLSMPOPTS", None])
def test_eighty_columns_are_enough(name: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """No name is broken, and no line is longer than the terminal."""
    monkeypatch.setenv("COLUMNS", "80")
    text = writer.list_text(MPICH) if name is None else writer.entry_text(name, MPICH)
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert all(e.name in text for knob in (find(name)[0] if name else ()) for e in knob.equivalents)


def test_only_mpi_variables_of_the_environment_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Open MPI's parameters are lower-case words, and so are http_proxy and others of the shell."""
    monkeypatch.setattr("octant.mpi.inventory.inventory", lambda _library: OPENMPI)
    for name in list(os.environ):
        monkeypatch.delenv(name)
    monkeypatch.setenv("http_proxy", "http://x")
    monkeypatch.setenv("OMPI_MCA_btl_sm_eager_limit", "1")
    code, text = run("--check")
    assert (code, "1 MPI settings checked" in text) == (0, True)
    monkeypatch.setenv("OMPI_MCA_btl_sm_eager_limt", "1")
    assert run("--check")[0] == 2
