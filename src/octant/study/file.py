"""Study files: reading, validation, and errors with file and key."""

from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from octant import registry, renamed, untrusted
from octant.failure import Exit, Refusal, suggestion
from octant.registry import Broken, Entries
from octant.study import checks, kinds
from octant.study.old_names import replace_old_names
from octant.study.question import Study

MAX_BYTES = 1 << 20
"""Maximum size of a study file."""


class StudyError(Refusal):
    """A study file that cannot be used; the text contains the file, the key and the reason."""

    def __init__(self, text: str, reason: str = "", line: int | None = None) -> None:
        super().__init__(text, Exit.WRONG_WORD)
        self.reason = reason or text  # without the name of the study
        self.line = line  # of the file, if known


def names() -> list[str]:
    """Return the names of the studies that come with Octant."""
    return sorted(
        path.name.removesuffix(".toml") for path in _shipped_folder().iterdir() if path.name.endswith(".toml")
    )


def entries() -> Entries[Study]:
    """Return the studies that come with Octant, and the unreadable ones with their errors."""
    return registry.collect((name, entry(name)) for name in names())


def entry(name: str) -> Study | Broken:
    """Return a study that comes with Octant, or why its file cannot be read."""
    file = path_of(name)

    def read() -> Study | Broken:
        try:
            return load(name)
        except StudyError as error:
            return Broken(name, str(file), error.reason, error.line)

    return registry.attempt(name, file, read)


def path_of(name: str) -> Path:
    """Return the file of a study that comes with Octant."""
    return Path(str(_shipped_folder() / f"{name}.toml"))


def source_text(name: str) -> tuple[str, str]:
    """Return name and text of a study: one that comes with Octant, or a file.

    Raises:
        Refusal: neither, or a file that cannot be read; the message names the nearest.
    """
    if name in names():
        return name, path_of(name).read_text(encoding="utf-8")
    path = Path(name)
    if not untrusted.exists(path):
        why = "neither a file nor a study that comes with Octant"
        raise StudyError(f"cannot find the study {name!r} ({why}); {suggestion(name, names(), 'octant study list')}")
    return path.stem, untrusted.read_text(path, "study", MAX_BYTES)


def parse(text: str, name: str, stored: bool = False) -> Study:
    """Return a study from its text.

    Args:
        stored: the text is of a stored run: version 0.2 used the name of a test instead of `predicted = true`.

    Raises:
        Refusal: no TOML, a missing, unknown or invalid key, or an unknown name.
    """
    table = untrusted.parse_toml(text, f"study {name}")
    changes = replace_old_names(table)
    if not stored:
        renamed.warn(changes)
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
    """Return the first test of a kind whose file cannot be used, which would otherwise be an unknown kind."""
    broken = kinds.entries().broken
    findings = table.get("findings")
    for n, finding in enumerate(findings if broken and isinstance(findings, list) else ()):
        test = finding.get("test") if isinstance(finding, dict) else None
        kind = test.get("kind") if isinstance(test, dict) else None
        if isinstance(kind, str) and kind in broken:
            reason = f"the kind of test {kind} cannot be used, {broken[kind].reason}"
            return untrusted.Mistake(("findings", str(n), "test", "kind"), reason, "correct or remove that file")
    return None


def load(name: str) -> Study:
    """Return a study by name or path.

    Raises:
        Refusal: as `source_text` and `parse`.
    """
    return parse(source_text(name)[1], name)


def _shipped_folder() -> Traversable:
    return files("octant.study") / "studies"
