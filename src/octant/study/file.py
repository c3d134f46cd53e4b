"""A study file: a question as data. Read once, checked against the catalogue, refused with file and key."""

from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, Union

from msgspec import Meta

from octant import catalogue, registry, untrusted
from octant.facts import Need
from octant.failure import Exit, Refusal, suggestion
from octant.registry import Broken, Entries
from octant.study import checks, kinds
from octant.study.cells import Cell
from octant.study.own import HOW
from octant.study.parts import (
    Argument,
    KindOfTest,
    Larger,
    Level,
    Levels,
    Measure,
    PublishedRange,
    PublishedTable,
)


def _as_test(value: Mapping[str, object]) -> KindOfTest:
    """A test of the kind that it names, of all that were found."""
    every: Any = Union[tuple(kinds.kinds().values())]  # noqa: UP007 - the only form for types in a list
    found: KindOfTest = untrusted.convert(value, every)
    return found


if TYPE_CHECKING:
    _Test: TypeAlias = KindOfTest
else:
    _Test = untrusted.read_with(_as_test, KindOfTest, dict[str, Any])

MOST_BYTES = 1 << 20
"""Of a study's file."""


class StudyError(Refusal):
    """A study file that cannot be used; the text names the file, the key and the reason."""

    def __init__(self, text: str, reason: str = "", line: int | None = None) -> None:
        super().__init__(text, Exit.WRONG_WORD)
        self.reason = reason or text  # without the name of the study
        self.line = line  # of the file, where the reason is known to lie


class FindingTest(untrusted.InputTable, frozen=True):
    """A finding of the catalogue, or a statement of the author's own, and the test that it must pass here."""

    id: str
    test: _Test
    statement: str = ""  # of the author's own: what the test is about; the id is none of the catalogue
    there: PublishedRange | None = None
    needs: tuple[Need, ...] = ()

    @property
    def finding(self) -> catalogue.Finding:
        """The finding of the catalogue, or one without a document."""
        if not self.statement:
            return catalogue.findings()[self.id]
        return catalogue.Finding(self.id, "", "", "", "suggested", self.statement, "", "", ())


class Study(untrusted.InputTable, frozen=True, kw_only=True):
    """A question: measures × factors, the published numbers, the findings that it tests, its picture."""

    question: str
    source: Literal["measure", "model"] = "measure"
    repeats: Annotated[int, Meta(ge=1, le=1000)] = 6  # launches of every combination: each is a sample
    picture: Literal["bars", "curve", "years"] = "bars"  # a bar per combination and axis value; curves along the axis;
    # a mark for each level at its year
    needs: tuple[Need, ...] = ()
    knobs: Mapping[str, str] = {}
    arguments: Mapping[str, Argument] = {}
    measures: Annotated[Mapping[str, Measure], Meta(min_length=1)]
    factors: Annotated[Mapping[str, Mapping[str, Level]], Meta(min_length=1)]
    baseline: Levels
    combinations: tuple[Levels, ...] = ()  # none: all of them
    scale: tuple[str, ...] = ()  # factors that say how large what is asked is, such as ranks: no setting to propose
    published: tuple[PublishedTable, ...] = ()
    findings: tuple[FindingTest, ...] = ()
    notes: tuple[str, ...] = ()
    larger: Larger | None = None

    @property
    def is_published(self) -> bool:
        """Whether its values are published ones, with this machine's own beside: nothing is modelled."""
        return all(measure.model in HOW for measure in self.measures.values())

    def full(self, levels: Levels) -> tuple[str, ...]:
        """The level of every factor, in the file's order."""
        return tuple({**self.baseline, **levels}[factor] for factor in self.factors)

    def is_scaled(self, levels: tuple[str, ...]) -> bool:
        """Whether a combination differs from the baseline in what is asked, so that it is no other setting of it."""
        return any(self.baseline[f] != level for f, level in zip(self.factors, levels, strict=True) if f in self.scale)

    def beside_baseline(self, levels: Levels) -> str:
        """`, cache past it`: those of these levels that are not the baseline's."""
        return "".join(f", {factor} {level}" for factor, level in levels.items() if level != self.baseline[factor])

    def cell(self, measure: str, levels: Levels) -> Cell:
        """The cell of a measure; factors left out are at the baseline."""
        return Cell(measure, self.full(levels))


def names() -> list[str]:
    """The studies that come with Octant."""
    return sorted(
        path.name.removesuffix(".toml") for path in _shipped_folder().iterdir() if path.name.endswith(".toml")
    )


def entries() -> Entries[Study]:
    """The studies that come with Octant, and those whose file cannot be read here."""
    return registry.collect((name, entry(name)) for name in names())


def entry(name: str) -> Study | Broken:
    """One study that comes with Octant, or why its file cannot be read here."""
    file = path_of(name)

    def read() -> Study | Broken:
        try:
            return load(name)
        except StudyError as error:
            return Broken(name, str(file), error.reason, error.line)

    return registry.attempt(name, file, read)


def path_of(name: str) -> Path:
    """The file of a study that comes with Octant."""
    return Path(str(_shipped_folder() / f"{name}.toml"))


def source_text(name: str) -> tuple[str, str]:
    """Name and text of a study: one that comes with Octant, or a file.

    Raises:
        Refusal: neither, or a file that cannot be read; the message names the nearest.
    """
    if name in names():
        return name, path_of(name).read_text(encoding="utf-8")
    path = Path(name)
    if not untrusted.exists(path):
        why = "neither a file nor a study that comes with Octant"
        raise StudyError(f"cannot find the study {name!r} ({why}); {suggestion(name, names(), 'octant study list')}")
    return path.stem, untrusted.read_text(path, "study", MOST_BYTES)


def parse(text: str, name: str, stored: bool = False) -> Study:
    """A study from its text.

    Args:
        stored: the text is of a stored run: version 0.2 wrote the name of a test where `predicted = true` stands now.

    Raises:
        Refusal: no TOML, a key missing, unknown or of the wrong kind, or a name that leads nowhere.
    """
    table = untrusted.parse_toml(text, f"study {name}")
    measures = table.get("measures")
    for measure in measures.values() if stored and isinstance(measures, dict) else ():
        if isinstance(measure, dict) and isinstance(measure.get("predicted"), str):
            measure["predicted"] = bool(measure["predicted"])
    if mistake := _broken_kind(table):
        raise _refusal(name, text, mistake)
    try:
        study = untrusted.convert(table, Study)
    except untrusted.MistakesError as error:
        raise _refusal(name, text, error.mistakes[0]) from error
    for key, problem in checks.problems(study):
        reason, _, hint = problem.partition("; ")
        raise _refusal(name, text, untrusted.Mistake(tuple(key.split(".")), reason, hint or "correct it"))
    return study


def _refusal(name: str, text: str, mistake: untrusted.Mistake) -> StudyError:
    line = untrusted.line_of(text, mistake.path)
    reason = f"{'.'.join(mistake.path) or 'the whole'}: {mistake.reason}"
    return StudyError(f"cannot read the study {name}{f', line {line}' if line else ''} {mistake}", reason, line or None)


def _broken_kind(table: Mapping[str, Any]) -> untrusted.Mistake | None:
    """Return the first test of a kind whose file cannot be used: no such word would be said of it."""
    broken = kinds.entries().broken
    findings = table.get("findings")
    for n, finding in enumerate(findings if broken and isinstance(findings, list) else ()):
        test = finding.get("test") if isinstance(finding, dict) else None
        kind = test.get("kind") if isinstance(test, dict) else None
        if isinstance(kind, str) and kind in broken:
            reason = f"the kind of test {kind} cannot be used here, {broken[kind].reason}"
            return untrusted.Mistake(("findings", str(n), "test", "kind"), reason, "correct or remove that file")
    return None


def load(name: str) -> Study:
    """A study by name or path.

    Raises:
        Refusal: as `source_text` and `parse`.
    """
    return parse(source_text(name)[1], name)


def _shipped_folder() -> Traversable:
    return files("octant.study") / "studies"
