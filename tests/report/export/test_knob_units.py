"""The units in headers of exported knobs are those that the kernels declare."""

import pytest

from octant import workloads
from octant.build.describe import describe
from octant.failure import Refusal
from octant.report.export.knob_columns import UNITS

OF_KIND = {"bytes": "B", "seconds": "s"}


def test_a_knob_has_the_unit_of_every_kernel_that_declares_it() -> None:
    declared: dict[str, set[str]] = {}
    for name in workloads.workloads():
        try:
            for knob in describe(name).knobs:
                declared.setdefault(knob.name, set()).add(OF_KIND.get(knob.kind, ""))
        except Refusal:
            pytest.skip("not all kernels are built")
    units = {name: unit for name, kinds in declared.items() if len(kinds) == 1 and (unit := next(iter(kinds)))}
    assert units == UNITS
