"""The option with which a launcher does not bind ranks, which a message names: the launcher's file reads it so."""

import pytest

from octant import launchers

DECLARED = [
    (name, command)
    for name, one in launchers.launchers_with_role("recognise").items()
    if hasattr(one, "UNBIND")
    for command in one.COMMANDS
]


def test_the_common_launchers_declare_it() -> None:
    assert {name for name, _ in DECLARED} >= {"mpich", "openmpi", "openmpi41", "intelmpi", "slurm", "flux"}


@pytest.mark.parametrize(("name", "command"), DECLARED)
def test_a_command_line_with_the_option_does_not_bind(name: str, command: str) -> None:
    recogniser = launchers.launchers_with_role("recognise")[name]
    option = launchers.unbinding_option(name, f"/opt/bin/{command}").split()
    head = [command, "run"] if command == "flux" else [command]
    found = recogniser.recognise([*head, *option, "-n", "2", "./app"], {})
    assert (found.binds, found.bound_by) == (False, "")
    assert launchers.unbinding_option("no such launcher", command) == ""
