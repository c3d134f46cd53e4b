"""Every number of the command line has a range, and is refused outside of it before the command begins."""

import math
import typing
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import typer
import typer.testing
from typer.models import ArgumentInfo, OptionInfo

from octant.cli import application


@dataclass(frozen=True)
class Number:
    command: tuple[str, ...]
    name: str  # "--size"; "": an argument
    is_float: bool
    least: float | None
    most: float | None

    def __str__(self) -> str:
        return " ".join((*self.command, self.name))

    def invoke(self, value: object) -> str:
        """Return the message of the command on the number, which it checks first."""
        words = [*self.command, *([f"{self.name}={value}"] if self.name else ["bgp", "--", str(value)])]
        result = typer.testing.CliRunner().invoke(application(), words)
        assert result.exit_code == 2, (result.output, result.exception)
        return result.output


def numbers(app: typer.Typer, path: tuple[str, ...] = ()) -> Iterator[Number]:
    for group in app.registered_groups:
        assert group.typer_instance
        assert group.name
        yield from numbers(group.typer_instance, (*path, group.name))
    for command in app.registered_commands:
        assert command.callback
        assert command.name
        for name, hint in typing.get_type_hints(command.callback, include_extras=True).items():
            if typing.get_origin(hint) is not typing.Annotated:
                assert name == "return" or hint is not int | float, f"{command.name} {name} has no option"
                continue
            kind, info = hint.__origin__, hint.__metadata__[0]
            kinds = {kind, *typing.get_args(kind)}
            if kinds & {int, float}:
                assert isinstance(info, OptionInfo | ArgumentInfo)
                written = [str(info.default), *(info.param_decls or ())]
                flag = next((one for one in written if one.startswith("--")), f"--{name.replace('_', '-')}")
                shown = flag if isinstance(info, OptionInfo) else ""
                yield Number((*path, command.name), shown, float in kinds, info.min, info.max)


NUMBERS = list(numbers(application()))


def test_the_numbers_are_found() -> None:
    named = set(map(str, NUMBERS))
    assert {"run --ranks", "run --timeout", "model solve --size", "model reach ", "study run --seed"} <= named
    assert len(NUMBERS) > 40


@pytest.mark.parametrize("number", NUMBERS, ids=str)
def test_a_number_has_a_range_and_is_refused_outside_of_it(number: Number) -> None:
    assert number.least is not None
    assert number.most is not None
    assert -math.inf < number.least < number.most < math.inf
    outside: list[object] = ["x", "1e999" if number.is_float else 10**30]
    outside += ["nan", "inf", number.most * 1.01, number.least - 1] if number.is_float else [number.most + 1]
    outside += [] if number.is_float else [number.least - 1]
    for value in outside:
        said = number.invoke(value)
        assert "Invalid value" in said or "is not" in said, (value, said)
