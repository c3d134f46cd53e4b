"""Pictures as SVG files, for papers and slides: each for two columns of a page and for one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant import output
from octant.failure import Refusal
from octant.report.charts.draw import PHONE, export

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from octant.report.charts.picture import Picture

WIDTHS = {"two-columns": 780, "one-column": PHONE}
"""Name of a file's width, and the px for which it is laid out: 180 and 88 mm."""


def write_svgs(pictures: Iterable[Picture], folder: Path, run: str) -> list[Path]:
    """Writes each picture as `ID-two-columns.svg` and `ID-one-column.svg` into a folder, made if need be.

    Args:
        run: where the numbers are from, for the metadata of the files.

    Raises:
        Refusal: the folder or a file cannot be written.
    """
    otherwise = "try --svg with a folder of yours"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refusal(f"cannot write into {folder} ({error.strerror}); {otherwise}") from error
    written = []
    for picture in pictures:
        for name, width in WIDTHS.items():
            written.append(folder / f"{picture.id}-{name}.svg")
            output.save(written[-1], export(picture, width, run), otherwise)
    return written
