"""What commands of published benchmarks print for stored runs, for `tests/benchmarks/test_golden.py`.

python tests/support/golden_tables.py    writes tests/data/golden-tables.txt anew
"""

import json
import tarfile
import tempfile
from pathlib import Path

from typer.testing import CliRunner

from octant.cli import application
from octant.failure import Refusal
from paths import DATA

GOLDEN = DATA / "golden-tables.txt"
STORES = ("store-of-0.2.tar.xz", "store-of-benchmarks.tar.xz")
TITLES = ("hpcc --quick", "mpi PingPong")
"""How the titles of the compared runs start."""
COMMANDS = (
    "hpcc --run RUN", "hpcc --run RUN --json", "export hpcc RUN", "export RUN --to hpcc", "mpi --run RUN",
    "mpi --run RUN --as osu", "mpi --run RUN --as octant", "mpi --run RUN --json", "mpi PingPong --run RUN",
)  # fmt: skip


def unpacked(folder: Path) -> Path:
    """Return a store with the runs of `STORES`, which are unpacked there."""
    for name in STORES:
        with tarfile.open(DATA / name) as archive:
            archive.extractall(folder)  # noqa: S202 - our own archive
    return folder


def printed(words: list[str]) -> str:
    """Return what a command prints on standard output, or its refusal."""
    done = CliRunner().invoke(application(), words)
    if isinstance(done.exception, Refusal):
        return f"refused: {done.exception}\n"
    assert done.exception is None, done.output
    return done.stdout


def sections(store: Path) -> dict[str, str]:
    """Return what each command prints for each run, by command."""
    found = {}
    for folder in sorted((store / "runs").iterdir()):
        title = json.loads((folder / "asked.json").read_text(encoding="utf-8"))["title"]
        for command in COMMANDS if title.startswith(TITLES) else ():
            words = command.replace("RUN", folder.name)
            found[words] = printed([*words.split(), "--store", str(store)])
    return found


def read() -> dict[str, str]:
    """Return the sections that were written."""
    parts = GOLDEN.read_text(encoding="utf-8").split("$ octant ")[1:]
    return {part.partition("\n")[0]: part.partition("\n")[2] for part in parts}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        texts = sections(unpacked(Path(folder)))
    GOLDEN.write_text("".join(f"$ octant {words}\n{text}" for words, text in texts.items()), encoding="utf-8")
