"""The design of the recorders: every pair of values of two factors is in one combination."""

import itertools

import pytest

from pairs import all_pairs

FACTORS = {"unit": ["core", "numa", "package"], "ranks": ["", "2", "4", "8"], "bind": ["", "none"], "one": ["x"]}


def test_every_pair_of_values_occurs() -> None:
    found = all_pairs(FACTORS)
    for (one, its), (other, others) in itertools.combinations(FACTORS.items(), 2):
        pairs = {(row[one], row[other]) for row in found}
        assert pairs == set(itertools.product(its, others))


def test_fewer_than_all_combinations() -> None:
    assert len(all_pairs({str(factor): [0, 1, 2] for factor in range(8)})) < 30


@pytest.mark.parametrize("factors", [{}, {"one": ["x"]}])
def test_one_factor_has_no_pairs(factors: dict[str, list[str]]) -> None:
    assert all_pairs(factors) == []
