"""The mechanism of registries: entries that cannot be used are kept with their errors, and nothing names an entry."""

import ast
from pathlib import Path

import pytest

from fake_run import fake_run, machine
from octant import registry, suites, workloads
from octant.advice import Facts, diagnose
from octant.advice.findings import review
from octant.analysis.summary import summarise
from octant.failure import Refusal
from octant.registry import Broken, UndeclaredError, declared
from octant.study import file
from paths import ROOT
from registries import ENTRIES, REGISTRIES


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a package with entries of every kind."""
    folder = tmp_path / "entries_of_a_test"
    (folder / "whole").mkdir(parents=True)
    (folder / "whole" / "__init__.py").write_text("from entries_of_a_test.whole import part\nVALUE = part.VALUE\n")
    (folder / "whole" / "part.py").write_text("VALUE = 1\n")
    (folder / "raises.py").write_text("'''A page.'''\n\nraise KeyError('what; is\\nmissing')\n")
    (folder / "exits.py").write_text("import sys\nsys.exit('at once')\n")
    (folder / "torn.py").write_text("VALUE = 1\nVALUE = (\n")
    (folder / "incomplete.py").write_text("OTHER = 1\n")
    (folder / "absent.py").write_text("import no_such_module_anywhere\n")
    (folder / "deep").mkdir()
    (folder / "deep" / "__init__.py").write_text("from entries_of_a_test.deep import inner\n")
    (folder / "deep" / "inner.py").write_text("\n\nVALUE = 1 / 0\n")
    (folder / "_shared.py").write_text("raise ValueError\n")
    (folder / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    return folder


def test_what_cannot_be_imported_or_is_incomplete_is_kept_with_file_line_and_error(package: Path) -> None:
    found = registry.entries(package.name, lambda module: declared(module, "VALUE").VALUE)
    assert dict(found.working) == {"whole": 1}
    assert dict(found.broken) == {
        "absent": Broken(
            "absent", str(package / "absent.py"), "ModuleNotFoundError: No module named 'no_such_module_anywhere'", 1
        ),
        "deep": Broken("deep", str(package / "deep/inner.py"), "ZeroDivisionError: division by zero", 3),
        "exits": Broken("exits", str(package / "exits.py"), "SystemExit: at once", 2),
        "incomplete": Broken("incomplete", str(package / "incomplete.py"), "it does not declare VALUE"),
        "raises": Broken("raises", str(package / "raises.py"), r"KeyError: 'what, is\nmissing'", 3),
        "torn": Broken("torn", str(package / "torn.py"), "SyntaxError: '(' was never closed", 2),
    }
    with pytest.raises(Refusal) as refused:
        found.check("torn", "thing")
    assert str(
        refused.value
    ) == f"cannot use the thing torn ({package}/torn.py, line 2: SyntaxError: '(' was never closed); " + (
        "correct or remove that file"
    )
    found.check("whole", "thing")
    found.check("not there", "thing")


def test_an_interruption_is_no_error_of_an_entry() -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        registry.attempt("entry", Path("entry.py"), interrupt)


def test_no_entry_that_comes_with_octant_is_broken() -> None:
    """Else a test that runs over every entry would pass over it."""
    assert workloads.broken() == {}
    assert not file.entries().broken
    assert not suites.entries().broken
    for kind, package, name in ENTRIES:
        assert not isinstance(registry.entry(package, name, lambda module: module), Broken), kind
    assert not diagnose(Facts(machine())).broken
    assert not review(summarise(fake_run())).broken
    assert len(ENTRIES) > 120
    assert len(REGISTRIES) == 8


def test_no_file_imports_an_entry_of_a_registry_by_its_name() -> None:
    """Deleting the entry would break that file too; shared parts are in the same folder, with a leading `_`."""
    found = []
    for path in (ROOT / "src/octant").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        own = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
        if path.name.startswith("test_") or not any(package in text for package in PACKAGES):
            continue
        for node in ast.walk(ast.parse(text)):
            imported: list[str] = []
            if isinstance(node, ast.ImportFrom) and node.module:
                imported = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            elif isinstance(node, ast.Import):
                imported = [alias.name for alias in node.names]
            found += [f"{own} imports {one}" for one in imported if (entry := _entry(one)) and _entry(own) != entry]
    assert not found


PACKAGES = {package for packages in REGISTRIES.values() for package in packages}


def _entry(module: str) -> str:
    """Return the registry entry of a module; empty: none."""
    parts = module.split(".")
    known = {f"{package}.{name}" for _, package, name in ENTRIES}
    return next((one for n in range(len(parts), 1, -1) if (one := ".".join(parts[:n])) in known), "")


def test_an_entry_that_declares_nothing_of_use_is_refused() -> None:
    from octant.study import question
    from octant.workloads import _declared

    module = type(registry)("made_up")
    module.WORKLOAD = 1  # type: ignore[attr-defined]
    with pytest.raises(UndeclaredError, match="its WORKLOAD is of type int, not Workload"):
        _declared(module)
    module.Made_upTest = int  # type: ignore[attr-defined]
    with pytest.raises(UndeclaredError, match="its Made_upTest is not a subclass of KindOfTest"):
        question._declared(module)
