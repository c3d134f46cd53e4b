"""The outputs of other benchmarks in `tests/data/foreign`, and what reading one says, flat."""

from pathlib import Path

from octant import foreign
from octant.foreign import ImportedValue, Output
from paths import DATA

FOLDER = DATA / "foreign"
FILES = sorted(FOLDER.glob("*.txt"))
_TOOLS = {"pmb": "imb"}

Figure = tuple[str, int, str, str, int, float, int, float | None]
"""Benchmark, line of its table, knobs, name, group, value, line, bound."""


def tool_of(path: Path) -> str:
    """Which tool the name of a file says it is of."""
    name = path.name.partition("-")[0]
    return _TOOLS.get(name, name)


def figures(output: Output) -> list[Figure]:
    """Every figure and check of an output, in its order."""
    return [
        (t.benchmark, t.line, str(dict(row.knobs)), v.name, v.group, v.value, v.line, v.bound)
        for t in output.tables
        for row in t.rows
        for v in row.values
    ]


def described(output: Output) -> str:
    """Everything that reading an output gives, as text: a line for the output, for each remark, table and row."""
    heads = (output.tool, output.version, output.version_line, output.started, output.architecture)
    lines = [" | ".join(map(str, heads)), *(f"remark: {remark}" for remark in output.remarks)]
    lines += [f"lines: {output.account.text()}", *output.account.quoted] if output.account.stated else []
    for table in output.tables:
        marks = [mark for mark, applies in (("alone", table.alone), ("not verified", not table.verified)) if applies]
        marks += [f"groups {table.groups}"] if table.groups else []
        where = f"{_count(table.ranks, 'ranks')}, {_count(table.threads, 'threads')}"
        lines.append("; ".join([f"{table.line}: {table.benchmark} {dict(table.knobs)}", where, *marks]))
        for row in table.rows:
            lines.append(f"    {row.line}: {dict(row.knobs)} {row.failed}".rstrip())
            lines += [f"        {_described(value)}" for value in row.values]
    return "\n".join([*lines, ""])


def _count(number: int | None, what: str) -> str:
    return f"{what} not stated" if number is None else f"{number} {what}"


def _described(value: ImportedValue) -> str:
    bound = "" if value.bound is None else f", bound {value.bound:g}"
    group = f", group {value.group}" if value.group else ""
    return f"{value.line}: {value.name} {value.value:.9g} {value.unit}{bound}{group}"


def text_of(name: str) -> str:
    """A file of the folder."""
    return (FOLDER / name).read_text(encoding="utf-8")


def value(output: Output, benchmark: str, name: str, size: str = "") -> float:
    """One figure of an output: the first of that benchmark, name and size."""
    return next(
        v.value
        for t in output.tables
        if t.benchmark == benchmark
        for row in t.rows
        if row.knobs.get("bytes", "") == size
        for v in row.values
        if v.name == name
    )


def read(name: str) -> Output:
    """What a file of the folder says."""
    return foreign.read(tool_of(Path(name)), text_of(name))
