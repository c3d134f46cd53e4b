"""Dependencies: bounded on both sides, and tried in the versions of constraints.txt."""

import ast
import importlib.metadata
import importlib.util
import sys
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from paths import ROOT

CONSTRAINTS = {
    canonicalize_name(name): Version(version)
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
    for name, version in [line.split("==")]
}


def requirements() -> list[Requirement]:
    spec = importlib.util.spec_from_file_location("mpi_flavour", ROOT / "cmake" / "mpi_flavour.py")
    assert spec is not None
    assert spec.loader is not None
    flavour = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(flavour)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    texts = [*flavour.DEPENDENCIES, *project["build-system"]["requires"]]
    texts += [text for wheels in flavour.WHEELS.values() for text in wheels]
    texts += [text for extra in project["project"]["optional-dependencies"].values() for text in extra]
    return [Requirement(text) for text in texts]


@pytest.mark.parametrize("one", requirements(), ids=str)
def test_a_dependency_has_an_upper_bound_and_the_version_tried_is_within(one: Requirement) -> None:
    assert {part.operator for part in one.specifier} & {"<", "=="}, "the next major version has not been tried"
    assert CONSTRAINTS[canonicalize_name(one.name)] in one.specifier


def test_the_tests_run_with_the_versions_of_the_constraints() -> None:
    installed = {canonicalize_name(one.name): Version(one.version) for one in importlib.metadata.distributions()}
    tried = {name: version for name, version in installed.items() if name in CONSTRAINTS}
    assert tried.keys() >= {"msgspec", "numpy", "pytest"}
    assert {name: version for name, version in tried.items() if version != CONSTRAINTS[name]} == {}


def test_what_the_package_imports_is_declared() -> None:
    """A package that only a dependency depends on may go away with its next version."""
    imported = {
        name.split(".")[0]
        for path in (ROOT / "src" / "octant").rglob("*.py")
        if not path.name.startswith("test_")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names])
    }
    others = imported - {"octant", *sys.stdlib_module_names}
    declared = {canonicalize_name(one.name) for one in requirements()}
    renamed = {"elftools": "pyelftools"}  # packages that are imported by another name
    assert {renamed.get(one, one) for one in others} - declared == {"markupsafe"}, "Jinja2 returns its type"


def test_parquet_is_an_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert [Requirement(text).name for text in project["project"]["optional-dependencies"]["parquet"]] == ["pyarrow"]
    assert "pyarrow" not in (ROOT / "cmake" / "mpi_flavour.py").read_text(encoding="utf-8")
