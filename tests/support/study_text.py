"""Small study files, to be changed in one place."""

from pathlib import Path

STUDY = """
question = "Is b faster?"
[baseline]
which = "a"
[measures.m]
workload = "stream"
[factors.which]
a = {}
b = { knobs = { pages = "thp" } }
[[findings]]
id = "p6-locality-best"
test = { kind = "ratio", measure = "m", of = { which = "b" }, bar = { above = 1.0 } }
"""


def curve_study(folder: Path, values: str = '"1MiB", "2MiB", "4MiB"', at: str = "4MiB") -> str:
    """A study file whose measure goes along sizes; its finding compares both levels at one of them."""
    axis = f'axis = {{ knob = "bytes", values = [{values}] }}'
    mine = folder / "mine.toml"
    mine.write_text(
        STUDY.replace('workload = "stream"', f'workload = "stream"\n{axis}').replace(
            'of = { which = "b" }', f'of = {{ which = "b" }}, at = "{at}"'
        )
    )
    return str(mine)
