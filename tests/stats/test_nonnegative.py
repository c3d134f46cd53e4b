"""Least squares with coefficients of at least 0."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octant.stats.nonnegative import solve


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(2, 40))
def test_no_direction_that_is_allowed_leads_nearer(seed: int, width: int, rows: int) -> None:
    """Karush, Kuhn and Tucker: the gradient is 0 where a coefficient is above 0, and not above 0 elsewhere."""
    draw = np.random.default_rng(seed)
    columns, target = draw.normal(size=(rows, width)), draw.normal(size=rows)
    found = solve(columns, target)
    gradient = columns.T @ (target - columns @ found)
    assert (found >= 0).all()
    assert (gradient <= 1e-7).all()
    assert np.abs(gradient[found > 1e-9]).max(initial=0.0) <= 1e-7


def test_coefficients_that_exist_are_found_whatever_their_scales() -> None:
    draw = np.random.default_rng(1)
    columns = draw.uniform(size=(30, 4)) * [1.0, 1e-9, 1e6, 0.0]
    assert solve(columns, columns @ [2.0, 3e9, 0.0, 0.0]) == pytest.approx([2.0, 3e9, 0.0, 0.0], rel=1e-9, abs=1e-12)
    assert solve(columns, -columns @ [1.0, 1e9, 1e-6, 0.0]).tolist() == [0.0] * 4
