"""Recordings of machines: the files in which a kernel describes one. Files begin with `=== PATH`."""

import tempfile
from pathlib import Path

import trees
from forked_hwloc import forked_hwloc
from octant.launchers import translate
from octant.machine import codec
from octant.machine.discover import discover
from octant.report.machine.text import as_text
from paths import MACHINES

FORMAT = "text"
REFUSES = (ValueError,)


def _archive(folder: Path) -> bytes:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return b"\n".join(b"=== %s\n%s" % (str(path.relative_to(folder)).encode(), path.read_bytes()) for path in paths)


_TREES = [folder for folder in sorted((MACHINES / "trees").iterdir()) if folder.is_dir()]
SEEDS = sorted((_archive(folder) for folder in _TREES), key=len)[:3]


def read(data: bytes) -> None:
    """A machine, in use: what `octant machine` and `octant place --on FOLDER` print of it."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for part in data.split(b"=== ")[1:]:
            path, _, content = part.partition(b"\n")
            _write(root, path, content)
        with forked_hwloc():
            machine = discover(root)
        as_text(machine)
        trees.from_json(codec.to_json(machine))
        translate("1x1,memory=local", machine.topology, page_sizes=machine.page_sizes)


def _write(root: Path, path: bytes, content: bytes) -> None:
    target = root / path.decode("utf-8", "surrogateescape").lstrip("/")
    if ".." in target.parts or b"\0" in path or len(path) > 200:
        return
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.removesuffix(b"\n"))
    except OSError:  # a folder has that name, or a file that of a folder
        return
