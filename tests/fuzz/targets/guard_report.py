"""Reports of guards: files that processes of the user can write to."""

import tempfile
from pathlib import Path

from octant.launch import guard

FORMAT = "json"
_LINE = (
    b'{"kind":"guard","whole":false,"host":"n1","pid":12,"rank":3,"local_rank":1,"started":1795677744.168291,'
    b'"wall_s":0.5,"user_s":0.4,"system_s":0.1,"memory_bytes":1000,"minor_faults":1,"major_faults":0,'
    b'"voluntary_switches":1,"involuntary_switches":0,"signal":9,"stop_signal":15,"outlived":[{"pid":13,"name":"x"}],'
    b'"given":{"host":"n1","cpus":[1],"thread_masks":[[0,1]]},"memory_policy":"bind:0","looks":1,"processes":1,'
    b'"threads":[{"name":"x","cpu_s":0.4,"mask":"0-1,8","seen_on":{"1":1}}],"huge_bytes":0,"nodes":{"0":900},'
    b'"lost":{"rank":3,"wall_ns":[500000000],"elapsed_ns":500000100,"throttled_ns":1,"throttled_group":"/x",'
    b'"stolen_ns":0},"pressure_s":0.001,"energy":[{"domain":"package-0","joules":25.5}]}\n'
)
SEEDS = [_LINE, _LINE + _LINE[:200]]


def read(data: bytes) -> None:
    """Nothing raises: what cannot be read is named."""
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "report"
        file.write_bytes(data)
        found = guard.load(file)
        assert all(len(problem) < 2000 for problem in found.problems)
        assert all(report.code is None or -64 <= report.code <= 255 for report in found.reports)
