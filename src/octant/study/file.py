"""A study file: a question as data. Read once, checked against the catalogue, refused with file and key."""

import functools
import operator
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, GetCoreSchemaHandler, GetPydanticSchema, ValidationError
from pydantic_core import CoreSchema

from octant.failure import Exit, Refusal
from octant.study import checks
from octant.study.cells import Cell
from octant.study.kinds import kinds
from octant.study.lines import line_of
from octant.study.parts import Argument, KindOfTest, Level, Levels, Measure, Need, Part, PublishedRange, PublishedTable

_KINDS = kinds()


class StudyError(Refusal):
    """A study file that cannot be used; the text names the file, the key and the reason."""

    def __init__(self, text: str) -> None:
        super().__init__(text, Exit.WRONG_ANSWER)


def _schema_of_kinds(_base: object, handler: GetCoreSchemaHandler) -> CoreSchema:
    """A test is of the kind that it names, of all that were found."""
    every = functools.reduce(operator.or_, _KINDS.values())
    return handler(Annotated[every, Field(discriminator="kind")])


class FindingTest(Part):
    """A finding of the catalogue and the test that it must pass here."""

    id: str
    test: Annotated[KindOfTest, GetPydanticSchema(_schema_of_kinds)]
    there: PublishedRange | None = None
    needs: tuple[Need, ...] = ()


class Study(Part):
    """A question: measures × factors, the published numbers, the findings that it tests, its picture."""

    question: str
    source: Literal["measure", "model"] = "measure"
    repeats: int = Field(6, ge=1, le=1000)  # launches of every combination: each is a sample
    picture: Literal["bars", "curve"] = "bars"  # a bar per combination and axis value, or curves along the axis
    needs: tuple[Need, ...] = ()
    knobs: Mapping[str, str] = {}
    arguments: Mapping[str, Argument] = {}
    measures: Mapping[str, Measure] = Field(min_length=1)
    factors: Mapping[str, Mapping[str, Level]] = Field(min_length=1)
    baseline: Levels
    combinations: tuple[Levels, ...] = ()  # none: all of them
    published: tuple[PublishedTable, ...] = ()
    findings: tuple[FindingTest, ...] = ()
    notes: tuple[str, ...] = ()

    def full(self, levels: Levels) -> tuple[str, ...]:
        """The level of every factor, in the file's order."""
        return tuple({**self.baseline, **levels}[factor] for factor in self.factors)

    def cell(self, measure: str, levels: Levels) -> Cell:
        """The cell of a measure; factors left out are at the baseline."""
        return Cell(measure, self.full(levels))


def names() -> list[str]:
    """The studies that come with Octant."""
    return sorted(
        path.name.removesuffix(".toml") for path in _shipped_folder().iterdir() if path.name.endswith(".toml")
    )


def source_text(name: str) -> tuple[str, str]:
    """Name and text of a study: one that comes with Octant, or a file.

    Raises:
        StudyError: neither; the message names the nearest.
    """
    if name in names():
        return name, (_shipped_folder() / f"{name}.toml").read_text(encoding="utf-8")
    path = Path(name)
    if not path.is_file():
        near = [known for known in names() if name.split("-")[0] in known] or names()
        why = "neither a file nor a study that comes with Octant"
        raise StudyError(f"cannot find the study {name!r} ({why}); try {', '.join(near)}")
    try:
        return path.stem, path.read_text(encoding="utf-8")
    except OSError as error:
        raise StudyError(f"cannot read the study {name} ({error.strerror}); see its permissions") from error
    except UnicodeDecodeError as error:
        raise StudyError(f"cannot read the study {name} (no UTF-8 text); try a TOML file") from error


def parse(text: str, name: str) -> Study:
    """A study from its text.

    Raises:
        StudyError: no TOML, a key missing, unknown or of the wrong kind, or a name that leads nowhere.
    """
    try:
        study = Study.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"cannot read the study {name} ({error}); correct that line") from error
    except ValidationError as error:
        first = error.errors()[0]
        # Behind `test` pydantic names the kind, which is no key of the file.
        steps = pairwise(["", *first["loc"]])
        path = [str(part) for before, part in steps if not (before == "test" and part in _KINDS)]
        raise _refusal(name, text, ".".join(path), _MESSAGES.get(first["type"], first["msg"])) from error
    for key, problem in checks.problems(study):
        raise _refusal(name, text, key, problem)
    return study


_MESSAGES = {
    "extra_forbidden": "there is no such key; remove it or correct its spelling",
    "missing": "this key is missing; add it",
    "string_pattern_mismatch": "no such need; try numa>=2, packages>=2, cores>=2, smt>=2, pages=2MiB or thp",
}


def _refusal(name: str, text: str, key: str, problem: str) -> StudyError:
    line = line_of(text, key.split("."))
    return StudyError(
        f"cannot read the study {name}{f', line {line}' if line else ''} ({key or 'the whole'}: {problem})"
    )


def load(name: str) -> Study:
    """A study by name or path.

    Raises:
        StudyError: as `source_text` and `parse`.
    """
    return parse(source_text(name)[1], name)


def _shipped_folder() -> Traversable:
    return files("octant.study") / "studies"
