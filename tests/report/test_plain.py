"""Every terminal and pipe can take what commands print: its encoding is kept, control characters are left out."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from fake_run import fake_run, retitled, write_run
from octant.report.plain import CleanStream, clean, clean_lines, escaped
from paths import Octant

ASCII = {"PYTHONIOENCODING": "ascii"}


@pytest.mark.parametrize(
    "words",
    [
        ("doctor", "--static"),
        ("workloads", "stream"),
        ("place", "--place", "1x1", "--on", "machines/frameworks-node.synthetic"),
        ("study", "report", "gups-scaling"),
        ("model", "loads", "power775", "--traffic", "randomaccess"),
    ],
    ids=" ".join,
)
def test_every_command_speaks_ascii_where_it_must(octant: Octant, words: tuple[str, ...]) -> None:
    done = octant(*words, env=ASCII)
    assert "Traceback" not in done.stderr
    assert done.stdout.isascii()
    assert len(done.stdout) > 100
    assert "??" not in done.stdout


def test_json_keeps_every_letter_in_any_encoding(octant: Octant) -> None:
    words = ("study", "report", "gups-scaling", "--json")
    plain, full = octant(*words, env=ASCII).stdout, octant(*words, env={"PYTHONIOENCODING": "utf-8"}).stdout
    assert plain.isascii()
    assert not full.isascii()
    assert json.loads(plain) == json.loads(full)


EVIL = "\x1b]0;gotcha\x07\x1b[2J\x9b31m\r\x7f\u202e"


def test_no_control_character_stays_in_a_text() -> None:
    every = "".join(map(chr, (*range(32), *range(127, 160))))
    assert set(clean(every)) == {"�"}
    assert set(clean_lines(every)) == {"�", "\t", "\n"}
    assert clean("Größe 1 µs, 漢字 \u00a0") == "Größe 1 µs, 漢字 \u00a0"
    assert clean_lines("\udcff") == "�", "half a character, from a name that is not UTF-8"


def test_json_says_the_same_after_escaping() -> None:
    text = escaped(json.dumps({"title": EVIL}, ensure_ascii=False))
    assert json.loads(text) == {"title": EVIL}
    assert text.isascii()


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_stream_of_the_command_takes_nothing_but_text_and_on_a_terminal_colours() -> None:
    coloured = f"\x1b[1;31mred\x1b[0m {EVIL}\n"
    file, terminal, json_file = io.StringIO(), _Terminal(), io.StringIO()
    print(coloured, file=cast("io.StringIO", CleanStream(file, json=False)))
    print(coloured, file=cast("io.StringIO", CleanStream(terminal, json=False)))
    print(json.dumps(EVIL, ensure_ascii=False), file=cast("io.StringIO", CleanStream(json_file, json=True)))
    assert "\x1b" not in file.getvalue()
    assert terminal.getvalue().startswith("\x1b[1;31mred\x1b[0m �]0;gotcha��[2J�31m���\n")
    assert json.loads(json_file.getvalue()) == EVIL
    assert json_file.getvalue().strip().isascii()


def test_a_title_from_outside_cannot_steer_the_terminal_or_a_page(octant: Octant, tmp_path: Path) -> None:
    asked = retitled(fake_run(), f"{EVIL}title")
    points = tuple(point for point in asked.points if point.workload == "node/noise")  # it needs no knobs
    run = write_run(replace(asked, points=points, title=f"{EVIL}title"), tmp_path / "store")
    for words in (
        ("report", "last"),
        ("runs",),
        ("export", "last"),
        ("report", "last", "--json"),
        ("export", "--json"),
    ):
        done = octant(*words)
        assert "title" in done.stdout, words
        assert done.returncode == 0, done.stderr
        assert not set(done.stdout) & set(EVIL) - set("gotcha]0;[2J31m"), words
    page = (run.folder / "report.html").read_text()
    assert not set(page) & set("\x1b\x07\x9b\r\x7f\u202e")
