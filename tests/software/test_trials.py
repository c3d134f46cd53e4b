"""What the doctor tries before it advises: OpenBLAS with other cores, and commands, against stand-ins and live."""

import os
from pathlib import Path

import pytest

from octant.software import blas, command, trials, versions
from octant.software.surroundings import CoreTrial

FLAGS = frozenset({"avx2", "avx512f", "avx512_bf16", "amx_tile"})
LIBRARY = blas.openblas_path()


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, known: str, default: str = "Nehalem") -> Path:
    """Return a Python whose OpenBLAS has the kernels `known`; a product takes 4 ms, with SkylakeX 1 ms."""
    program = folder / "python"
    program.write_text(
        f"""#!/bin/sh
        core={default}
        case "$OPENBLAS_CORETYPE" in {known}) core=$OPENBLAS_CORETYPE;; esac
        echo "$core"; echo "OpenBLAS 0.3.30 DYNAMIC_ARCH $core MAX_THREADS=64"
        case "$core" in SkylakeX) echo 0.001;; *) echo 0.004;; esac
        """
    )
    program.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(program))
    monkeypatch.delenv(blas.VARIABLE, raising=False)
    return folder / "libopenblas.so"


def test_names_are_tried_from_the_newest_until_one_has_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = stand_in(tmp_path, monkeypatch, "SkylakeX|Haswell")
    found = blas.openblas(library)
    assert found is not None
    assert (found.core, found.version, found.path) == ("Nehalem", "0.3.30", str(library))
    tried = blas.with_trials(found, FLAGS, is_set=False).trials
    assert tried == (
        CoreTrial("SapphireRapids", "Nehalem"),
        CoreTrial("Cooperlake", "Nehalem"),
        CoreTrial("SkylakeX", "SkylakeX", 4.0),
    )
    assert blas.with_trials(found, {"avx2"}, is_set=False).trials == (CoreTrial("Haswell", "Haswell", 1.0),)


@pytest.mark.parametrize("fails", ['"$OPENBLAS_CORETYPE" = SkylakeX', '"$OPENBLAS_CORETYPE$4" = SkylakeX512'])
def test_no_older_core_is_tried_after_a_request_without_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    """The first case is a timeout on a busy machine, the second kernels that the processor cannot execute."""
    library = stand_in(tmp_path, monkeypatch, "SkylakeX|Haswell")
    program = tmp_path / "python"
    program.write_text(program.read_text().replace("#!/bin/sh", f"#!/bin/sh\ntest {fails} && exit 1", 1))
    found = blas.openblas(library)
    assert found is not None
    tried = blas.with_trials(found, FLAGS, is_set=False).trials
    assert tried == (CoreTrial("SapphireRapids", "Nehalem"), CoreTrial("Cooperlake", "Nehalem"))


def test_a_variable_that_is_set_is_compared_with_unset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = stand_in(tmp_path, monkeypatch, "Haswell|SkylakeX", default="SkylakeX")
    monkeypatch.setenv(blas.VARIABLE, "Haswell")
    found = blas.openblas(library)
    assert found is not None
    assert found.core == "Haswell"
    tried = blas.with_trials(found, FLAGS, is_set=True).trials
    assert tried[:2] == (CoreTrial("", "SkylakeX", 4.0), CoreTrial("SapphireRapids", "SkylakeX"))


def test_what_cannot_be_loaded_is_no_openblas(tmp_path: Path) -> None:
    (tmp_path / "libnothing.so").write_text("no library")
    assert blas.openblas(tmp_path / "libnothing.so") is None


@pytest.mark.skipif(LIBRARY is None, reason="the scipy-openblas32 wheel is not installed")
def test_the_library_itself_says_which_core_it_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    """The requested name counts only if the library confirms it: `nonsense` changes nothing."""
    assert LIBRARY is not None
    monkeypatch.delenv(blas.VARIABLE, raising=False)
    monkeypatch.setattr(command, "TIMEOUT_S", 60.0)  # on a busy machine, too, each request has an answer
    usual = blas.openblas(LIBRARY)
    monkeypatch.setenv(blas.VARIABLE, "nonsense")
    assert usual is not None
    assert blas.openblas(LIBRARY) == usual
    assert f"kernels for {usual.core} (" in versions.software()["openblas"]
    for trial in blas.with_trials(usual, FLAGS, is_set=True).trials:
        monkeypatch.setenv(blas.VARIABLE, trial.asked)
        again = blas.openblas(LIBRARY)
        assert again is not None
        assert again.core == trial.given
        assert (trial.speedup is None) == (trial.given == usual.core)


def test_a_refused_command_gives_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusing = tmp_path / "setarch"
    refusing.write_text("#!/bin/sh\necho 'setarch: failed to set personality: Operation not permitted' >&2; exit 1\n")
    refusing.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert trials.tried(1)[trials.FIXED_ADDRESSES] == "Operation not permitted"
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert trials.tried(1)[trials.LARGE_STACK] == "No such file or directory"
    assert command.answer(["nothing"])[0] == -1


def test_binding_is_judged_by_where_the_runtime_puts_its_first_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def outcome(bound: str) -> str | None:
        program = tmp_path / "python"
        program.write_text(f'#!/bin/sh\ntest "$OMP_PROC_BIND" = close && echo {bound} || echo 8\n')
        program.chmod(0o755)
        monkeypatch.setattr("sys.executable", str(program))
        return trials.tried(4).get(trials.BINDING)

    assert outcome("1") == ""
    assert outcome("8") == "the OpenMP runtime of GNU does not bind its first thread"
    assert outcome("; exit 1 #") is None
    assert trials.BINDING not in trials.tried(1)
