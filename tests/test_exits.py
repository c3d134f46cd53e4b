"""Exit codes: one table in both languages, one order if several apply, and no code outside the table."""

import ast
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from module_graph import tree_of
from octant.failure import PRECEDENCE, Exit, worst
from octant.record.ends import name_of
from paths import ROOT

HEADER = ROOT / "native/harness/octant/exit.hpp"
MEANINGS = {
    "OK": 0, "CANNOT_RUN": 1, "WRONG_WORD": 2, "NOT_SUPPORTED": 3, "WRONG_ANSWER": 4, "REGRESSION": 5, "NOT_DECIDED": 6,
    "UNFIT": 7, "INTERRUPTED": 130,
}  # fmt: skip
"""What scripts rely on: a number that changes its meaning breaks them."""


def native_codes() -> dict[str, int]:
    """Return the enumerators of the header with their numbers, aliases included."""
    text = HEADER.read_text()
    body = re.search(r"enum class Exit : int \{(.*?)\};", text, re.DOTALL)
    assert body
    return {name: int(number) for name, number in re.findall(r"(\w+) = (\d+)", body[1])}


def test_both_languages_have_the_same_codes_and_no_aliases() -> None:
    assert {name: int(code) for name, code in Exit.__members__.items()} == MEANINGS
    native = native_codes()
    assert {name.upper(): number for name, number in native.items()} == MEANINGS
    assert len(set(native.values())) == len(native)
    assert len(list(Exit)) == len(Exit.__members__), "an alias is a member that is not listed"


def test_both_languages_name_and_order_them_alike() -> None:
    text = HEADER.read_text()
    order = re.search(r"std::array precedence\{(.*?)\};", text, re.DOTALL)
    assert order
    assert [name.upper() for name in re.findall(r"Exit::(\w+)", order[1])] == [code.name for code in PRECEDENCE]
    names = re.findall(r"case Exit::(\w+):\s*return \"(\w+)\";", text)
    assert dict(names) == {name: name_of(code) for name, code in native_codes().items()}
    assert len(names) == len(Exit)


STATED = [130, 4, 5, 6, 1, 3]
"""The order that is promised where several codes apply."""


@pytest.mark.parametrize("codes", [c for n in range(7) for c in itertools.combinations(STATED, n)])
def test_the_first_in_the_order_wins(codes: tuple[int, ...]) -> None:
    expected = codes[0] if codes else 0
    assert worst(codes) == worst([*reversed(codes), 0]) == expected


def test_all_codes_have_a_place_in_the_order() -> None:
    assert sorted(PRECEDENCE) == sorted(Exit)
    assert [code for code in PRECEDENCE if code in STATED] == STATED
    with pytest.raises(ValueError, match="139"):
        worst([139])


def sources() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted((ROOT / "src/octant").rglob("*.py")):
        yield path, tree_of(path)


def _codes_of(call: ast.Call) -> list[ast.expr]:
    """Return the arguments of a call that are exit codes."""
    name = ast.unparse(call.func)
    if name.rpartition(".")[2] == "Refusal":
        return [*call.args[1:2], *(word.value for word in call.keywords if word.arg == "code")]
    return call.args[:1] if name in ("typer.Exit", "sys.exit", "Exit") else []


def test_sources_use_codes_of_the_table_only_and_by_name() -> None:
    """A number in the place of a code says nothing of what it means, and would not follow the table."""
    found = 0
    for path, tree in sources():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Exit":
                assert node.attr in MEANINGS, f"{path}: {node.attr}"
                found += 1
            for code in _codes_of(node) if isinstance(node, ast.Call) else ():
                assert not isinstance(code, ast.Constant) or not isinstance(code.value, int), f"{path}: {code.lineno}"
    assert found > 100


def test_native_sources_use_codes_of_the_table_only() -> None:
    files = [*(ROOT / "native").rglob("*.?pp"), *(ROOT / "src/octant/workloads").rglob("*.?pp")]
    used = [(path, name) for path in files for name in re.findall(r"\bExit::(\w+)", path.read_text(encoding="utf-8"))]
    assert {name for _, name in used} <= {*native_codes()}
    assert len(used) > 50
    for path in (ROOT / "native/bind").glob("*.cpp"):  # whose refusals have numbers; the others have an Exit
        assert not re.findall(r"Refusal\([^;]*, *\d+\);", path.read_text(encoding="utf-8")), path


def test_the_documentation_has_the_table() -> None:
    text = (ROOT / "docs/measuring.md").read_text(encoding="utf-8")
    section = text.partition("## Exit codes\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (\d+) \|", section, re.MULTILINE)
    assert [int(row) for row in rows] == sorted(MEANINGS.values())
