"""The imports between the modules of the package, and the groups of modules that import each other."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping, Set
from pathlib import Path


@functools.cache
def tree_of(path: Path) -> ast.Module:
    """Return the syntax tree of a file, which is parsed once."""
    return ast.parse(path.read_text(encoding="utf-8"))


def module_name(path: Path, source: Path) -> str:
    """Return the name of a module from its file below the folder `source`."""
    parts = path.relative_to(source).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def import_graph(source: Path) -> dict[str, set[str]]:
    """Return the modules that each module below `source` imports, tests left out.

    Imports in functions and those for type checkers count. `from package import module` is an import of the module,
    not of the package, although Python runs the package's `__init__.py` first. Modules that `octant.registry` imports
    by name are not seen.
    """
    paths = [path for path in source.rglob("*.py") if not path.name.startswith("test_")]
    modules = {module_name(path, source): path for path in paths}
    trees = {name: tree_of(path) for name, path in modules.items()}
    return {name: set(_imported(tree, modules)) - {name} for name, tree in trees.items()}


def _imported(tree: ast.Module, modules: Mapping[str, Path]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            assert not node.level, "an import is written with its full name"
            for one in node.names:
                full = f"{node.module}.{one.name}"
                yield from {full if full in modules else node.module} & modules.keys()
        elif isinstance(node, ast.Import):
            yield from {one.name for one in node.names} & modules.keys()


def collapse(graph: Mapping[str, Set[str]], package: str) -> dict[str, set[str]]:
    """Return the imports between the children of a package; a folder represents all modules in it.

    Modules outside the package and the package's own `__init__.py` are left out.
    """
    depth = package.count(".") + 2

    def child(module: str) -> str | None:
        return ".".join(module.split(".")[:depth]) if module.startswith(f"{package}.") else None

    children: dict[str, set[str]] = {}
    for module, imported in graph.items():
        if (name := child(module)) is not None:
            children.setdefault(name, set()).update(other for one in imported if (other := child(one)) is not None)
    return {name: imported - {name} for name, imported in children.items()}


def cycles(graph: Mapping[str, Set[str]]) -> list[list[str]]:
    """Return the strongly connected components of more than one module, sorted (Tarjan 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for other in graph[module]:
            if other not in index:
                visit(other)
            if other in stack:
                low[module] = min(low[module], low[other])
        if low[module] == index[module]:
            place = stack.index(module)
            component = sorted(stack[place:])
            del stack[place:]
            if len(component) > 1:
                found.append(component)

    for module in graph:
        if module not in index:
            visit(module)
    return sorted(found)
