"""The version: number and commit of a checkout, of packages built from it, and never those of somebody else's files."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import octant
from octant.build import version
from octant.build.version import UNKNOWN, Version, of_package, parse
from paths import ROOT

NUMBER = version.source_number(ROOT)
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
ENVIRONMENT["GIT_CONFIG_GLOBAL"] = os.devnull
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=Tests", "-c", "user.email=tests@localhost", *words]
    return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=True).stdout.strip()


def commit_all(folder: Path) -> str:
    """Make the folder a repository with one commit; return the first digits of the commit."""
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "Tests")
    return git(folder, "rev-parse", "HEAD")[:8]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return the part of the source tree that a version depends on, without a repository."""
    tree = tmp_path / "tree"
    for name in (
        "pyproject.toml",
        ".gitattributes",
        "README.md",
        "LICENSE",
        "cmake/mpi_flavour.py",
        "src/octant/__init__.py",
        "src/octant/build/version.py",
    ):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tree / name)
    return tree


@pytest.fixture
def no_git_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a `git` first on PATH that would create the returned file."""
    tools, started = tmp_path / "tools", tmp_path / "git-was-started"
    tools.mkdir()
    (tools / "git").write_text(f"#!/bin/sh\n: >'{started}'\n")
    (tools / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    return started


def install(folder: Path, full: str) -> Path:
    """Install the package as a wheel of this version does; return the package's folder."""
    package, metadata = folder / "octant", folder / "octant_hpc-0.dist-info"
    shutil.copytree(ROOT / "src/octant/build", package / "build", ignore=shutil.ignore_patterns("__pycache__"))
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.2\nName: octant-hpc\nVersion: {full}\n")
    return package


def unpack(archive: Path) -> Path:
    folder = archive.parent / "unpacked"
    folder.mkdir()
    subprocess.run(["tar", "-xf", archive, "-C", folder], check=True)
    return folder


def test_a_version_is_read_as_it_was_written() -> None:
    for one, full, printed in (
        (Version("0.3.0"), "0.3.0", "0.3.0 (commit unknown)"),
        (Version("0.3.0", "52edef8a"), "0.3.0+g52edef8a", "0.3.0 (52edef8a)"),
        (Version("0.3.0", "52edef8a", True), "0.3.0+g52edef8a.modified", "0.3.0 (52edef8a, modified)"),
    ):
        assert (one.full, str(one), parse(full)) == (full, printed, one)
    assert parse("0.3.0+site.1") == Version("0.3.0+site.1")


@needs_git
def test_a_checkout_has_its_commit_and_says_whether_it_is_modified(tree: Path) -> None:
    commit = commit_all(tree)
    assert of_package(tree / "src/octant") == Version(NUMBER, commit)
    (tree / "untracked").touch()
    assert of_package(tree / "src/octant") == Version(NUMBER, commit)
    with (tree / "README.md").open("a") as readme:
        readme.write("\n")
    assert of_package(tree / "src/octant") == Version(NUMBER, commit, modified=True)
    git(tree, "add", "README.md")
    assert of_package(tree / "src/octant").modified
    git(tree, "worktree", "add", "-q", str(tree.parent / "worktree"))
    assert of_package(tree.parent / "worktree/src/octant") == Version(NUMBER, commit)


@needs_git
def test_a_variable_that_names_another_repository_is_ignored(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = commit_all(tree)
    other = tree.parent / "other"
    other.mkdir()
    (other / "file").touch()
    assert commit_all(other) != commit
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git/index"))
    assert of_package(tree / "src/octant") == Version(NUMBER, commit)


@needs_git
def test_the_commit_is_unknown_without_git_and_without_a_commit(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tree, "init", "-q")
    assert of_package(tree / "src/octant") == Version(NUMBER)
    commit_all(tree)
    monkeypatch.setenv("PATH", str(tree))
    assert str(of_package(tree / "src/octant")) == f"{NUMBER} (commit unknown)"


@needs_git
def test_sources_in_a_foreign_work_tree_do_not_have_its_commit(tree: Path) -> None:
    commit_all(tree.parent)
    assert of_package(tree / "src/octant") == Version(NUMBER)
    (tree / ".git").mkdir()  # git takes this for no repository, and would continue with the parent folder
    assert of_package(tree / "src/octant") == Version(NUMBER)


def test_git_is_not_started_outside_of_a_source_tree(tree: Path, no_git_starts: Path) -> None:
    foreign = tree.parent / "foreign"
    (foreign / ".git").mkdir(parents=True)
    (foreign / "pyproject.toml").write_text('[project]\nname = "foreign"\n')
    (foreign / "cmake").mkdir()
    shutil.copy(tree / "cmake/mpi_flavour.py", foreign / "cmake")
    for folder in (foreign / "src", foreign / ".venv/lib/python3/site-packages"):
        assert of_package(install(folder, "0.2.0+g0123abcd")) == Version("0.2.0", "0123abcd")
    assert of_package(tree / "src/octant") == Version(NUMBER)  # no repository of its own
    assert not no_git_starts.exists()
    (tree / ".git").mkdir()
    of_package(tree / "src/octant")
    assert no_git_starts.exists(), "this test would not have noticed"


def test_a_package_has_the_metadata_of_its_own_folder(tmp_path: Path) -> None:
    assert of_package(install(tmp_path / "wheel", "0.2.0+g0123abcd.modified")) == Version("0.2.0", "0123abcd", True)
    package = install(tmp_path / "copy", "0.2.0")
    shutil.rmtree(tmp_path / "copy/octant_hpc-0.dist-info")
    assert of_package(package) == Version(UNKNOWN)  # though this environment may have Octant installed


@needs_git
def test_an_archive_of_git_has_its_commit(tree: Path) -> None:
    commit = commit_all(tree)
    git(tree, "archive", "-o", "archive.tar", "HEAD")
    code = "from octant.build import version; print(version.of_package())"
    assert python(unpack(tree / "archive.tar") / "src", code, site=False) == f"{NUMBER} ({commit})"


def python(folder: Path, code: str, cwd: Path | None = None, site: bool = True) -> str:
    """Run code with the folder's packages first; `site`: also the environment's packages."""
    environment = {**ENVIRONMENT, "PYTHONPATH": str(folder), "OCTANT_MPI": "site", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, *([] if site else ["-S"]), "-c", code]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def build(tree: Path, hook: str) -> Path:
    """Build a package of this source tree as pip does, without kernels; return the file or folder."""
    built = tree / "build" / hook
    built.mkdir(parents=True)
    code = f"from scikit_build_core.build import {hook}; print({hook}({str(built)!r}, {{'wheel.cmake': 'false'}}))"
    return built / python(built, code, tree).splitlines()[-1]


@needs_git
def test_wheels_and_source_distributions_record_the_commit(tree: Path, tmp_path: Path) -> None:
    pytest.importorskip("scikit_build_core")
    commit = commit_all(tree)

    def installed(wheel: Path, folder: Path) -> Version:
        shutil.unpack_archive(wheel, folder, "zip")
        return of_package(folder / "octant")

    assert installed(build(tree, "build_wheel"), tmp_path / "wheel") == Version(NUMBER, commit)
    (unpacked,) = unpack(build(tree, "build_sdist")).iterdir()
    assert of_package(unpacked / "src/octant") == Version(NUMBER, commit)
    assert installed(build(unpacked, "build_wheel"), tmp_path / "wheel of sdist") == Version(NUMBER, commit)


@needs_git
def test_an_editable_install_records_no_commit_that_would_be_outdated(tree: Path) -> None:
    pytest.importorskip("scikit_build_core")
    commit_all(tree)
    for hook in ("prepare_metadata_for_build_editable", "build_editable"):
        assert build(tree, hook).name.removesuffix(".dist-info").split("-")[1] == NUMBER


def test_the_command_prints_the_version_of_the_sources_that_it_runs() -> None:
    command = [sys.executable, "-m", "octant.cli", "--version"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed == f"octant {of_package()}\n"
    assert octant.__version__ == of_package().number == NUMBER
