"""BLAS libraries that are found, and the settings that select them in the kernels."""

import os
from pathlib import Path

import pytest

from octant.runs.plan import environment
from octant.software import blas


def library(folder: Path, name: str) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    return file


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of the system's libraries, without a wheel."""
    monkeypatch.setattr(blas, "FOLDERS", (str(tmp_path / "lib"),))
    monkeypatch.setattr("sys.prefix", str(tmp_path / "python"))
    monkeypatch.setattr(blas, "openblas_path", lambda: None)
    monkeypatch.setattr(blas, "folders_of", lambda package: [tmp_path / package])
    return tmp_path / "lib"


def test_each_library_is_found_by_its_name_and_each_file_once(system: Path, tmp_path: Path) -> None:
    open_blas = library(system, "openblas-pthread/libopenblasp-r0.3.21.so")
    (system / "libopenblas.so.0").symlink_to(open_blas)
    (system / "libblas.so.3").symlink_to(open_blas)
    blis = library(system, "libblis.so.4")
    mkl = library(tmp_path / "python" / "lib", "libmkl_rt.so.2")
    assert blas.libraries() == {"openblas": open_blas, "blis": blis, "mkl": mkl}
    reference = library(system, "blas/libblas.so.3")
    (system / "libblas.so.3").unlink()
    (system / "libblas.so.3").symlink_to(reference)
    assert blas.libraries()["system"] == reference


def test_what_alternatives_choose_among_and_what_wheels_carry_is_found_too(system: Path, tmp_path: Path) -> None:
    chosen = library(system, "openblas-pthread/libopenblasp-r0.3.21.so")
    (system / "openblas-pthread/libopenblas.so.0").symlink_to(chosen)
    (system / "libopenblas.so.0").symlink_to(system / "openblas-pthread/libopenblas.so.0")
    openmp = library(system, "openblas-openmp/libblas.so.3")
    blis = library(system, "blis-pthread/libblis.so.4")
    library(system, "blis-pthread/libblas.so.3")
    reference = library(system, "blas/libblas.so.3.11.0")
    (system / "blas/libblas.so.3").symlink_to(reference)
    numpy = library(tmp_path / "numpy", "numpy.libs/libscipy_openblas64_-32a4.so")
    library(tmp_path / "numpy", "numpy.libs/libgfortran-0400.so.5.0.0")
    assert blas.libraries() == {
        "openblas": chosen, "openblas-openmp": openmp, "blis-pthread": blis, "reference": reference, "numpy": numpy,
    }  # fmt: skip


def test_the_wheel_comes_before_the_system_s(system: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = library(system, "openblas-pthread/libopenblas.so.0")
    (system / "libopenblas.so.0").symlink_to(other)
    wheel = library(tmp_path, "libscipy_openblas.so")
    monkeypatch.setattr(blas, "openblas_path", lambda: wheel)
    assert blas.libraries() == {"openblas": wheel, "openblas-pthread": other}


def test_kernels_find_the_list_in_their_environment(system: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OCTANT_BLAS", raising=False)
    assert "OCTANT_BLAS" not in environment()
    a, b = library(system, "libopenblas.so.0"), library(system, "libblis.so.4")
    assert environment()["OCTANT_BLAS"] == f"openblas={a}:blis={b}"
    assert blas.named({"openblas": Path("/a:b/lib.so"), "blis": b}) == f"blis={b}"
    monkeypatch.setenv("OCTANT_BLAS", "/mine.so")
    assert environment()["OCTANT_BLAS"] == os.environ["OCTANT_BLAS"], "what the user sets stays"
