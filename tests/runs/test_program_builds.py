"""Which build of a program and of its libraries was started is read from files; nothing is executed for it."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from octant.runs.programs.builds import builds_of, find_program, identity, libraries

Needs = Callable[[str], str]

HERE = Path.cwd()


def ldd(program: Path, environment: Mapping[str, str]) -> dict[str, Path]:
    text = subprocess.run(
        ["ldd", str(program)], env=dict(environment), capture_output=True, text=True, check=True
    ).stdout
    found = re.findall(r"^\s*(\S+)(?: => (\S+))? \(0x", text, re.MULTILINE)
    return {Path(name).name: Path(path or name) for name, path in found if "vdso" not in name}


@pytest.mark.parametrize("name", ["ls", "env", "tar", "python3"])
def test_the_libraries_are_those_that_the_dynamic_linker_loads(name: str, needs: Needs) -> None:
    needs("ldd")
    program = Path(sys.executable if name == "python3" else needs(name)).resolve()
    found = dict(libraries(program, os.environ, HERE))
    assert {one: path.resolve() for one, path in found.items()} == {
        one: path.resolve() for one, path in ldd(program, os.environ).items()
    }


def test_search_paths_of_the_environment_come_first(tmp_path: Path, needs: Needs) -> None:
    needs("ldd")
    ls = Path(needs("ls")).resolve()
    name, library = next((one, path) for one, path in ldd(ls, os.environ).items() if one.startswith("libc.so"))
    shutil.copy(library, tmp_path / name)
    environment = {**os.environ, "LD_LIBRARY_PATH": "."}
    assert dict(libraries(ls, environment, tmp_path))[name] == tmp_path / name
    shutil.copy(library, tmp_path / "mine.so")
    preloaded = dict(libraries(ls, {**os.environ, "LD_PRELOAD": str(tmp_path / "mine.so")}, tmp_path))
    assert preloaded["mine.so"] == tmp_path / "mine.so"


def test_a_build_is_that_of_the_file_on_the_path_and_changes_with_it(tmp_path: Path, needs: Needs) -> None:
    shutil.copy(needs("true"), tmp_path / "app")
    environment = {"PATH": "bin:."}
    assert find_program("app", environment, tmp_path) == tmp_path / "app"
    first = builds_of(["app", "x"], environment, tmp_path)
    assert first == builds_of(["./app"], {}, tmp_path)
    assert re.fullmatch("[0-9a-f]{16,}", first["app"])
    shutil.copy(needs("false"), tmp_path / "app")
    assert builds_of(["./app"], {}, tmp_path)["app"] != first["app"]
    assert builds_of(["./none"], {}, tmp_path) == builds_of(["none"], {"PATH": ""}, tmp_path) == {}


def test_of_a_script_the_digest_and_its_interpreter(tmp_path: Path) -> None:
    script = tmp_path / "solve.py"
    script.write_text("print(1)\n")
    found = builds_of([sys.executable, "-u", "solve.py", "3"], os.environ, tmp_path)
    assert {"solve.py", Path(sys.executable).name} <= found.keys()
    script.write_text("print(2)\n")
    assert builds_of([sys.executable, "-u", "solve.py"], os.environ, tmp_path)["solve.py"] != found["solve.py"]
    (tmp_path / "run.sh").write_text("#!/usr/bin/env sh\ntrue\n")
    (tmp_path / "run.sh").chmod(0o700)
    assert {"run.sh", "sh"} <= builds_of(["./run.sh"], os.environ, tmp_path).keys()


def test_the_program_is_not_executed(tmp_path: Path) -> None:
    script = tmp_path / "app"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/executed\n")
    script.chmod(0o700)
    assert builds_of(["./app"], os.environ, tmp_path)["app"]
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("size", [0, 3, 16, 64, 500, 4000])
def test_a_damaged_file_has_a_digest(tmp_path: Path, size: int, needs: Needs) -> None:
    (tmp_path / "app").write_bytes(Path(needs("true")).read_bytes()[:size])
    (tmp_path / "app").chmod(0o700)
    assert re.fullmatch("[0-9a-f]{16,}", builds_of(["./app"], {}, tmp_path)["app"])
    os.mkfifo(tmp_path / "pipe")
    assert identity(tmp_path / "pipe") == ""
