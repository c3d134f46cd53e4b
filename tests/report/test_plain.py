"""Where the encoding of a terminal or a pipe is not UTF-8, every command still speaks, and JSON stays JSON."""

import json

import pytest

from paths import Octant

ASCII = {"PYTHONIOENCODING": "ascii"}


@pytest.mark.parametrize(
    "words",
    [
        ("doctor",),
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
