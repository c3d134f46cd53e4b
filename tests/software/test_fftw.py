"""Libraries with FFTW's interface that are found, and the settings that select them in the kernels."""

from pathlib import Path

import pytest

from octant.runs.plan import environment
from octant.software import fftw


def test_each_precision_is_found_in_the_system_and_in_wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fftw, "FOLDERS", (str(tmp_path / "lib"),))
    monkeypatch.setattr("sys.prefix", str(tmp_path / "python"))
    monkeypatch.setattr(fftw, "folders_of", lambda package: [tmp_path / package])
    files = {
        "fftw": "lib/libfftw3.so.3.6.10",
        "fftw-single": "python/lib/libfftw3f.so.3",
        "pyfftw": "pyfftw/pyfftw.libs/libfftw3-9c0b.so.3.5.7",
        "pyfftw-single": "pyfftw/pyfftw.libs/libfftw3f-1a2b.so.3.5.7",
        "nvpl": "nvpl/nvpl/lib/libnvpl_fftw.so.0",
    }
    for name in (*files.values(), "lib/libfftw3_omp.so.3", "pyfftw/pyfftw.libs/libfftw3l-5c6d.so.3.5.7"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "lib" / "libfftw3.so.3").symlink_to(tmp_path / "lib" / "libfftw3.so.3.6.10")
    assert fftw.libraries() == {name: tmp_path / file for name, file in files.items()}
    monkeypatch.delenv("OCTANT_FFTW", raising=False)
    assert f"fftw-single={tmp_path / files['fftw-single']}" in environment()["OCTANT_FFTW"].split(":")
    monkeypatch.setenv("OCTANT_FFTW", "mine=/opt/lib.so")
    assert environment()["OCTANT_FFTW"] == "mine=/opt/lib.so", "what the user says is left alone"
