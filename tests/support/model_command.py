"""`octant model` in this process."""

import json
from typing import Any

import typer
from typer.testing import CliRunner

from octant.cli import model
from octant.failure import Refusal


def run(*words: str) -> str:
    app = typer.Typer()
    model.register(app)
    app.callback()(lambda: None)
    result = CliRunner().invoke(app, ["model", *words])
    if isinstance(result.exception, Refusal):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout  # what it says of its progress on a busy machine is no part of the answer


def answer(*words: str) -> Any:
    return json.loads(run(*words, "--json"))
