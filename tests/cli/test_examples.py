"""The examples are typed again: documentation that is a test."""

import shlex
from pathlib import Path

import pytest

from paths import ROOT, Octant

TRANSCRIPTS = sorted((ROOT / "examples").glob("*.transcript"))


def commands(text: str) -> list[str]:
    return [line[2:] for line in text.splitlines() if line.startswith("$ ")]


def typed(octant: Octant, text: str) -> str:
    """Return the transcript with the real output of every command."""
    lines = []
    for command in commands(text):
        program, *words = shlex.split(command)
        assert program == "octant"
        done = octant(*words, cwd=ROOT, env={"COLUMNS": "100", "OCTANT_STORE": "/nowhere"})
        assert done.returncode == 0, done.stderr
        lines += [f"$ {command}", *(line.rstrip() for line in done.stdout.splitlines()), ""]
    return "\n".join(lines)


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_a_transcript_comes_out_as_it_is_printed(octant: Octant, path: Path, request: pytest.FixtureRequest) -> None:
    text = path.read_text(encoding="utf-8")
    now = typed(octant, text)
    if request.config.getoption("--rewrite"):
        path.write_text(now, encoding="utf-8")
    assert now == text


def test_there_are_transcripts_to_type() -> None:
    assert len(TRANSCRIPTS) >= 4
    assert all(commands(path.read_text(encoding="utf-8")) for path in TRANSCRIPTS)
