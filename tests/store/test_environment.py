"""What of the environment a run records: settings that we know, and no credential, old or new."""

import functools
import json
import os
import stat
from pathlib import Path

import pytest

from fake_kernel import Kernel, planned, request
from fake_run import fake_run, machine, write_run
from octant.analysis.summary import summarise
from octant.mpi.knobs import knobs, select_mpi_variables
from octant.mpi.neutral import settings
from octant.mpi.settings import is_known
from octant.report.page import run_page
from octant.runs.carry_out import carry_out, in_turn
from octant.store import Store, environment
from reports import report_of

CREDENTIALS = {
    "SLURM_JWT": "eyJhbGciOiJIUzI1NiJ9.e30.x",
    "OMPI_MCA_auth_token": "hunter2",
    "UCX_SECRET": "hunter2",
    "I_MPI_HYDRA_PASSWORD": "hunter2",
    "OMP_API_KEY": "hunter2",
    "SLURM_CREDENTIALS": "hunter2",
    "FI_PROXY": "https://jane:hunter2@proxy.example.org:3128",
    "UCX_HEADER": "Authorization: Bearer hunter2",
    "OCTANT_ANYTHING": "hunter2",
    "SLURM_SUBMIT_HOST": "hunter2",
    "LD_ANYTHING": "hunter2",
    "HOME": "/home/hunter2",
}
SETTINGS = {
    "OMP_PROC_BIND": "close",
    "UCX_TLS": "sm,self",
    "SLURM_CPU_BIND": "cores",
    "OCTANT_BLAS": "/opt/lib.so",
    "LD_LIBRARY_PATH": "/opt/lib:/home/me/lib",
    "LD_BIND_NOW": "1",
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    "MALLOC_ARENA_MAX": "1",
}


def test_only_settings_are_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name != "PATH":
            monkeypatch.delenv(name)
    for name, value in {**CREDENTIALS, **SETTINGS}.items():
        monkeypatch.setenv(name, value)
    run = Store(tmp_path).create("q", machine(), [request()])
    assert json.loads((run.folder / "asked.json").read_text())["environment"] == SETTINGS
    assert "hunter2" not in (run.folder / "asked.json").read_text()


@pytest.mark.parametrize("name", ["SLURM_JWT", "slurm_jwt", "OMPI_MCA_auth_token", "OMP_PASSPHRASE"])
def test_credentials_of_an_older_run_are_not_read(tmp_path: Path, name: str) -> None:
    run = write_run(fake_run(), tmp_path)
    path = run.folder / "asked.json"
    path.write_text(path.read_text().replace('"OMP_PROC_BIND": "close"', f'"OMP_PROC_BIND": "close", "{name}": "x"'))
    assert name in path.read_text()
    assert Store(tmp_path).read(run.id).environment == {"OMP_PROC_BIND": "close"}


@pytest.mark.parametrize("word", ["JWT", "token", "SECRET", "Pass", "KEY", "CRED", "AUTH", "COOKIE"])
def test_a_setting_whose_name_speaks_of_a_credential_is_hidden(word: str) -> None:
    assert environment.may_be_recorded("UCX_OTHER", "1")
    for name in (f"UCX_{word}", f"UCX_X{word}_FILE"):
        assert not environment.may_be_recorded(name, "1")


@pytest.mark.parametrize(
    "value",
    [
        "tcp://jane:hunter2@host", "x eyJhbGciOiJIUzI1NiJ9.e30", "-----BEGIN RSA PRIVATE KEY-----", "Bearer abc",
        "proxy basic YWJj", "token=abc", "my_secret: abc", "passwd=abc", "PASSWORD=abc", "credentials:abc",
    ],
)  # fmt: skip
def test_a_setting_whose_value_may_be_a_credential_is_hidden(value: str) -> None:
    assert not environment.may_be_recorded("UCX_OTHER", value)


@pytest.mark.parametrize("value", ["tcp://host:80/a@b", "eyJ", "close", "basic", "tokens", "0,1:2=3"])
def test_other_values_are_recorded(value: str) -> None:
    assert environment.may_be_recorded("UCX_OTHER", value)


def test_what_our_tables_of_settings_have_is_recorded() -> None:
    tables = {name for knob in knobs() for name in knob.names()}
    tables |= {name for setting in settings() for row in setting.maps for name in row.names()}
    names = [name for name in select_mpi_variables(tables) if is_known(name) and "KEY" not in name]
    assert len(names) > 100
    assert [name for name in names if not environment.may_be_recorded(name, "1")] == []


def test_a_store_is_its_owners_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        fill(Store(tmp_path / "a" / "store"))
    finally:
        os.umask(before)
    found = list((tmp_path / "a").rglob("*"))
    assert {"asked.json", "plan.jsonl", "records.jsonl", "index.sqlite", "report.html"} <= {p.name for p in found}
    for path in found:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def fill(store: Store) -> None:
    """Every file that the command writes into a store."""
    run = store.create("q", machine(), [request(bytes="1MiB")])
    plan = functools.partial(planned, records=run.records)
    done = carry_out(store, run, in_turn(run.launches), plan, start=Kernel())
    assert done.complete
    store.list_runs()
    run_page.write(report_of(summarise(done, {})), run.folder / "report.html")
