"""Study files, and the questions that they ask of a machine."""

from fake_run import machine
from octant import facts
from octant.study import cells as axes
from octant.study import design, file
from study_text import STUDY

FORMAT = "toml"
SEEDS = [STUDY.encode(), *(file.source_text(name)[1].encode() for name in file.names())]
_HERE = machine(packages=2, cores=4)


def read(data: bytes) -> None:
    """A study, and what it would measure here."""
    study = file.parse(data.decode("utf-8", "surrogateescape"), "fuzz")
    if study.source == "measure":
        axes.axis_values(study, facts.numbers(_HERE))
        design.design(study, _HERE, 1)
