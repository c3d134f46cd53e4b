"""Through how many files one parameter travels, and through which: what a reader has to open to follow it.

    python tests/support/trips.py [ROOT]      displaying a run, reading a run of a study, and its outcome

Of version 0.2 (commit 52edef8a) it printed 103 for a run, and 73 for the outcome of a study, which read the run itself.

A parameter is followed through calls, without running anything: into every function that it, a part of it, or what a
function made of it is passed to. Where a class is made of it the trip ends, since the object is then data. A method is
followed where one class alone has a method of its name.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from module_graph import tree_of

TRIPS = {
    "displaying a run": ("octant.cli._run", "_show", "run"),
    "reading a run of a study": ("octant.study.stored", "study_run", "run"),
    "the outcome of a study": ("octant.study.outcome", "outcome_of_run", "run"),
}
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Module:
    """What a file defines and imports."""

    functions: dict[str, Function] = field(default_factory=dict)  # `name` or `Class.name`
    classes: set[str] = field(default_factory=set)
    names: dict[str, str] = field(default_factory=dict)  # of imports: here -> full name


class Sources:
    """The package's files."""

    def __init__(self, root: Path) -> None:
        self.modules: dict[str, Module] = {}
        self.methods: dict[str, list[tuple[str, str]]] = defaultdict(list)  # name -> module and `Class.name`
        for path in sorted((root / "src" / "octant").rglob("*.py")):
            if not path.name.startswith("test_"):
                parts = path.relative_to(root / "src").with_suffix("").parts
                name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
                self.modules[name] = self._module(name, tree_of(path))

    def _module(self, name: str, tree: ast.Module) -> Module:
        found = Module()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                found.names |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
            elif isinstance(node, ast.Import):
                found.names |= {one.asname: one.name for one in node.names if one.asname}
        for node in tree.body:
            if isinstance(node, Function):
                found.functions[node.name] = node
            elif isinstance(node, ast.ClassDef):
                found.classes.add(node.name)
                for one in node.body:
                    if isinstance(one, Function):
                        found.functions[f"{node.name}.{one.name}"] = one
                        self.methods[one.name].append((name, f"{node.name}.{one.name}"))
        return found

    def resolve(self, module: str, callee: ast.expr) -> tuple[str, str] | None:
        """The module and name of a function that is called; `None`: a class, or nothing of ours."""
        here = self.modules[module]
        if isinstance(callee, ast.Name):
            if callee.id in here.functions:
                return module, callee.id
            full = here.names.get(callee.id, "")
        elif isinstance(callee, ast.Attribute) and isinstance(callee.value, ast.Name):
            full = f"{here.names[callee.value.id]}.{callee.attr}" if callee.value.id in here.names else ""
        else:
            return None
        return self._defined(full)

    def _defined(self, full: str) -> tuple[str, str] | None:
        owner, _, name = full.rpartition(".")
        there = self.modules.get(owner)
        if there is None:
            return None
        return (owner, name) if name in there.functions else self._defined(there.names.get(name, ""))


class Trip:
    """The functions that a parameter enters."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.entered: set[tuple[str, str, str]] = set()  # module, function, parameter

    @property
    def files(self) -> list[str]:
        """The modules of these functions."""
        return sorted({module for module, _, _ in self.entered})

    def enter(self, module: str, name: str, parameter: str) -> None:
        """Follows a parameter of a function."""
        if (module, name, parameter) in self.entered:
            return
        self.entered.add((module, name, parameter))
        function = self.sources.modules[module].functions[name]
        mine, before = {parameter}, 0
        while len(mine) > before:  # names may be used above the line that gives them in loops
            before = len(mine)
            for node in ast.walk(function):
                mine |= set(self._named(module, node, mine))
        for node in ast.walk(function):
            if isinstance(node, ast.Call):
                for place in self._places(module, node, mine):
                    self.enter(*place)

    def _named(self, module: str, node: ast.AST, mine: set[str]) -> Iterator[str]:
        """The names that a node gives to what is followed."""
        pairs: list[tuple[ast.expr, ast.expr]] = []
        if isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
        elif isinstance(node, ast.NamedExpr | ast.AnnAssign) and node.value is not None:
            pairs = [(node.target, node.value)]
        elif isinstance(node, ast.For | ast.comprehension):
            pairs = [(node.target, node.iter)]
        for target, value in pairs:
            if self._is_mine(module, value, mine):
                yield from (one.id for one in ast.walk(target) if isinstance(one, ast.Name))

    def _is_mine(self, module: str, value: ast.expr, mine: set[str]) -> bool:
        """Whether an expression is what is followed, a part of it, or what a function made of it."""
        if isinstance(value, ast.Name):
            return value.id in mine
        if isinstance(value, ast.Attribute | ast.Subscript | ast.Starred):
            return self._is_mine(module, value.value, mine)
        if isinstance(value, ast.Call):
            of_it = any(self._is_mine(module, one, mine) for one in _arguments(value))
            if isinstance(value.func, ast.Attribute):
                of_it = of_it or self._is_mine(module, value.func.value, mine)
            return of_it and not _is_class(value.func)
        if isinstance(value, ast.Tuple | ast.List):
            return any(self._is_mine(module, one, mine) for one in value.elts)
        if isinstance(value, ast.ListComp | ast.GeneratorExp | ast.SetComp):
            return self._is_mine(module, value.elt, mine)
        if isinstance(value, ast.IfExp):
            return self._is_mine(module, value.body, mine) or self._is_mine(module, value.orelse, mine)
        return isinstance(value, ast.BoolOp) and any(self._is_mine(module, one, mine) for one in value.values)

    def _places(self, module: str, call: ast.Call, mine: set[str]) -> Iterator[tuple[str, str, str]]:
        """The functions that a call passes it to, with the parameter."""
        own = isinstance(call.func, ast.Attribute) and self._is_mine(module, call.func.value, mine)
        target = self.sources.resolve(module, call.func)
        if target is None and isinstance(call.func, ast.Attribute):
            several = self.sources.methods.get(call.func.attr, [])
            target = several[0] if len(several) == 1 else None
        if target is None:
            return
        function = self.sources.modules[target[0]].functions[target[1]]
        names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
        if "." in target[1]:
            if own and names:
                yield *target, names[0]
            names = names[1:]
        keywords = {one.arg for one in function.args.kwonlyargs} | set(names)
        for place, value in enumerate(call.args):
            if place < len(names) and self._is_mine(module, value, mine):
                yield *target, names[place]
        for keyword in call.keywords:
            if keyword.arg in keywords and self._is_mine(module, keyword.value, mine):
                yield *target, str(keyword.arg)


def _is_class(callee: ast.expr) -> bool:
    return isinstance(callee, ast.Name) and callee.id[:1].isupper()


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def trips(root: Path) -> dict[str, list[str]]:
    """The modules that each trip passes through."""
    sources, found = Sources(root), {}
    for what, start in TRIPS.items():
        if start[0] not in sources.modules:  # of another version
            continue
        trip = Trip(sources)
        trip.enter(*start)
        found[what] = trip.files
    return found


if __name__ == "__main__":
    for what, files in trips(Path(sys.argv[1] if len(sys.argv) > 1 else ".")).items():
        print(f"{what}: {len(files)} files\n   {' '.join(files)}")
