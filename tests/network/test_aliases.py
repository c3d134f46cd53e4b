"""Names of traffic patterns in other tools."""

import pytest
from typer.testing import CliRunner

from octant.cli import application
from octant.network import load, traffic


@pytest.mark.parametrize("name", traffic.ALIASES)
def test_an_alias_is_a_pattern_and_no_name_of_another(name: str) -> None:
    assert name not in traffic.NAMES
    traffic.make(load("bgp"), traffic.ALIASES[name])


def test_a_command_accepts_an_alias_and_says_which_pattern_it_is() -> None:
    found = [
        CliRunner().invoke(application(), ["model", "solve", "bgp", "-t", name]) for name in ("alltoall", "uniform")
    ]
    assert [one.exit_code for one in found] == [0, 0]
    assert found[0].stdout == found[1].stdout
    assert "alltoall is the traffic pattern uniform" in found[0].stderr
    assert not found[1].stderr
