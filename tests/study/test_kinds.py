"""A kind of test is one file: lying in the folder registers it, and nothing else knows of it."""

import subprocess
import sys
from pathlib import Path

from octant.study import kinds
from study_text import STUDY

MIDDLE = """
from octant.study.question import Judgement, KindOfTest


class MiddleTest(KindOfTest, frozen=True):
    measure: str

    def problems(self, study):
        if self.measure not in study.measures:
            yield "measure", "nothing of that name"

    def judge(self, study, values):
        value = values.value(study.cell(self.measure, {}), "").value
        return Judgement("holds", f"in the middle at {value.middle:g}", value)
"""
TRY = """
import sys
from octant.study import kinds
kinds.__path__.append(sys.argv[1])
from octant.stats import Interval
from octant.study import file
from octant.study.values import StudyValue, StudyValues
from octant.study.verdict import verdicts
study = file.parse(sys.argv[2], "mine")
values = StudyValues({}, {study.cell("m", {}): {"": StudyValue(modelled=Interval(1, 2, 3))}}, {}, {})
print(verdicts(study, values, None)[0].text)
try:
    file.parse(sys.argv[2].replace('measure = "m"', 'measure = "n"'), "mine")
except file.StudyError as error:
    print(error)
"""


def test_every_file_of_the_folder_is_a_kind() -> None:
    lying_there = {path.stem for path in Path(kinds.__file__).parent.glob("[a-z]*.py")}
    assert set(kinds.kinds()) == lying_there
    assert {"ratio", "order", "most", "value"} < lying_there


def test_another_file_is_read_checked_and_judged(tmp_path: Path) -> None:
    (tmp_path / "middle.py").write_text(MIDDLE)
    text = STUDY.replace(
        'kind = "ratio", measure = "m", of = { which = "b" }, bar = { above = 1.0 }', 'kind = "middle", measure = "m"'
    )
    done = subprocess.run(
        [sys.executable, "-c", TRY, str(tmp_path), text], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    verdict, refusal = done.stdout.splitlines()
    assert verdict == "holds: in the middle at 2"
    assert (
        refusal
        == "cannot read the study mine, line 12 (findings.0.test.measure: nothing of that name); correct the value"
    )
