"""Fixtures: the profiler, and programs that know their own profile."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from mpi_libraries import LIBRARIES, MpiLibrary
from truth_programs import TruthPrograms


@pytest.fixture(scope="session")
def profiler(kernels: Path) -> Path:
    """The library; the same file for all MPI libraries."""
    return kernels / "octant-profiler"


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TruthPrograms]:
    """The programs, compiled for every MPI library that is installed."""
    compiled = TruthPrograms(tmp_path_factory.mktemp("programs"), LIBRARIES)
    yield compiled
    compiled.end()


@pytest.fixture(params=LIBRARIES, ids=lambda library: re.sub(r"\W", "", library.name), scope="session")
def library(request: pytest.FixtureRequest) -> MpiLibrary:
    """Each MPI library that is installed."""
    chosen: MpiLibrary = request.param
    if chosen.missing:
        pytest.skip(chosen.missing)
    return chosen
