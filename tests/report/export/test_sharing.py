"""A report for others: nothing in it, packed or not, says who measured, on which hosts, and where files lie."""

import base64
import contextlib
import getpass
import re
import socket
import zlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from pyarrow import parquet
from typer.testing import CliRunner

from fake_run import fake_run, machine, write_run
from foreign_outputs import FOLDER
from octant.cli import application
from octant.record import Failure, KeptFile
from octant.report.export import sharing
from octant.report.tables import benchmark as benchmark_table
from octant.store import StoredRun

HOST, USER, OTHER = "n017.cluster.example.org", "jdoe", "login3"
FILE = f"fields_of_{USER}.bin"
LIBRARY = f"/home/{USER}/build/libopenblas.so.0"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StoredRun:
    """A run whose every text may name the host, the user or a path."""
    monkeypatch.setattr(getpass, "getuser", lambda: USER)
    monkeypatch.setattr(socket, "gethostname", lambda: OTHER)
    made = fake_run(repeats=2, on=machine(name=HOST), title=f"run gemm library={LIBRARY}")
    points = tuple(
        replace(
            point,
            given=tuple(replace(one, host=HOST.partition(".")[0]) for one in point.given),
            process=replace(point.process, mpi=f"MPICH 5, --prefix=/opt/{USER}/mpich", hosts=(HOST,)),
            notes={**point.notes, "library": LIBRARY},
            knobs={**point.knobs, "library": LIBRARY},
            files=(KeptFile(FILE, "field", 16, crc="0123abcd", stored=f"fake-0.1/0.0.{FILE}"),),
        )
        for point in made.points
        if point.launch != made.launches[0].key  # which failed
    )
    failure = Failure("node/gemm", made.launches[0].key, {}, 1, f"on {HOST}: cannot load ~/lib.so and {LIBRARY}", 1)
    on = replace(made.machine, system={**made.machine.system, "boot": f"root=/dev/{OTHER}/root user {USER}"})
    environment = {"OCTANT_BLAS": LIBRARY, "UCX_TLS": "sm"}
    whole = replace(
        made, points=points, failures=(*made.failures, failure), environment=environment, machine=on, title=made.title
    )
    return write_run(whole, tmp_path / "store")


def unpacked(page: str, least: int = 20) -> str:
    """The page with everything in it that is deflated, which are more than `least` parts."""
    packed = re.findall(r"[A-Za-z0-9+/]{200,}={0,2}", page)
    texts = []
    for text in packed:
        try:
            texts.append(zlib.decompress(base64.b64decode(text)).decode())
        except (ValueError, zlib.error):
            continue
    assert len(texts) > least, "the document, the drawings, the samples and further rows are packed"
    return "\n".join([page, *texts])


SECRETS = (HOST, HOST.partition(".")[0], OTHER, USER, "/home", "/opt", "~/", "libopenblas", FILE)


def test_nothing_in_a_shared_report_says_who_and_where(run: StoredRun, tmp_path: Path) -> None:
    words = ["report", run.id, "--store", str(tmp_path / "store")]
    whole = CliRunner().invoke(application(), [*words, "-o", str(tmp_path / "whole.html")])
    assert whole.exit_code == 0, whole.exception
    assert all(secret in unpacked((tmp_path / "whole.html").read_text()) for secret in SECRETS), "they were there"
    shared = CliRunner().invoke(application(), [*words, "--share"])
    assert shared.exit_code == 0, shared.exception
    page = unpacked((run.folder / "shared.html").read_text())
    for secret in (*SECRETS, str(tmp_path), str(run.folder)):
        place = page.find(secret)
        assert place < 0, page[max(0, place - 100) : place + 100]
    assert "GB/s" in page


def test_a_shared_report_prints_its_path_and_no_secret(run: StoredRun, tmp_path: Path) -> None:
    words = ["report", run.id, "--share", "-o", "shared.html", "--store", str(tmp_path / "store")]
    with contextlib.chdir(tmp_path):
        assert CliRunner().invoke(application(), words).stdout == "shared.html\n"
        drawn = CliRunner().invoke(application(), [*words, "--pictures"]).stdout
    assert "GB/s" in drawn
    for secret in (*SECRETS, str(tmp_path)):
        assert secret not in drawn


@pytest.mark.parametrize(
    "words",
    [
        ["report", "--json"],
        ["export", "--to", "csv"],
        ["export", "--to", "json"],
        ["export", "--to", "csv", "--results"],
        ["export", "--to", "json", "--samples"],
    ],
    ids=" ".join,
)
def test_shared_rows_and_figures_say_neither(run: StoredRun, tmp_path: Path, words: list[str]) -> None:
    done = CliRunner().invoke(application(), [*words, "--share", "--store", str(tmp_path / "store")])
    assert done.exit_code == 0, done.exception
    assert "node/stream" in done.stdout
    for secret in (*SECRETS, str(tmp_path)):
        assert secret not in done.stdout


def test_the_format_of_a_benchmark_is_shared_without_names(
    run: StoredRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(benchmark_table, "exported", lambda *_: f"HostName={HOST} of {USER} in {LIBRARY}")
    words = ["export", "hpcc", run.id, "--share", "--store", str(tmp_path / "store")]
    assert CliRunner().invoke(application(), words).stdout == "HostName=host 1 of user in (path)"


def test_what_is_no_name_and_no_path_stays(run: StoredRun) -> None:
    clean = sharing.cleaner(run)
    kept = "12.3 GB/s of 1/2, node/stream on 3 hosts, /proc/cpuinfo says 2 GHz, </text> http://www.w3.org/2000/svg"
    assert clean(kept) == kept
    assert clean(f"{USER}@{HOST}:/scratch/{USER}/x, then file:///etc/hosts") == "user@host 1:(path), then file://(path)"
    assert clean("in /sys/fs/cgroup/user.slice/user-1000.slice/job_77/cpu.max") == "in (path)"
    assert clean("/sys/fs/resctrl") == "/sys/fs/resctrl"
    assert clean(f"{USER}s") == f"{USER}s", "a longer word is another"


def shared(run: str, folder: Path, *commands: list[str]) -> str:
    """Return all that commands with --share print and write into `out`; without the folder of the store."""
    (out := folder / "out").mkdir()
    texts = []
    with contextlib.chdir(out):
        for words in commands:
            done = CliRunner().invoke(
                application(), [words[0], run, *words[1:], "--share", "--store", str(folder / "store")]
            )
            assert done.exit_code == 0, done.exception
            texts.append(done.output)
    for file in sorted(out.rglob("*.*")):
        if file.suffix == ".parquet":
            texts.append(str(parquet.read_table(file).to_pylist()))
        else:
            text = file.read_text(encoding="utf-8")
            texts.append(unpacked(text, least=1) if file.suffix == ".html" else text)
    return "\n".join(texts)


def assert_without(text: str, secrets: Iterable[str]) -> None:
    for secret in secrets:
        place = text.find(secret)
        assert place < 0, text[max(0, place - 100) : place + 100]


def test_parquet_for_others_names_neither(run: StoredRun, tmp_path: Path) -> None:
    """The other formats are those of `test_shared_rows_and_figures_say_neither`."""
    text = shared(run.id, tmp_path, ["export", "--to", "parquet", "-o", "a.parquet"])
    assert "'width'" in text
    assert_without(text, (*SECRETS, str(tmp_path)))


def test_no_output_for_others_names_the_file_or_the_machine_of_an_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(getpass, "getuser", lambda: USER)
    monkeypatch.setattr(socket, "gethostname", lambda: OTHER)
    (home := tmp_path / "home" / USER).mkdir(parents=True)
    file = home / "imb.txt"
    noise = f"# written by {USER} on {HOST} in /home/{USER}/bench"
    file.write_text(f"{(FOLDER / 'imb-2021.11-mpi1.txt').read_text(encoding='utf-8')}{noise}\n", encoding="utf-8")
    store = tmp_path / "store"
    words = ["import", "imb", str(file), "--machine", HOST, "--store", str(store)]
    done = CliRunner().invoke(application(), words)
    assert done.exit_code == 0, done.exception
    assert HOST in done.output
    text = shared(
        "last",
        tmp_path,
        ["report", "-o", "page.html", "--pictures", "--svg", "svg"],
        ["report", "--json"],
        ["export"],
        ["export", "--results"],
        ["export", "--to", "mpi"],
    )
    assert "imported results of IMB 2021.11" in text
    assert "</svg>" in text
    assert_without(text, (HOST, HOST.partition(".")[0], USER, "/home", str(tmp_path)))
