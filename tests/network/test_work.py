"""Long computations: they refuse what would take too long, and Ctrl-C ends them."""

import signal
import subprocess
import sys
import time

import pytest

from networks import network, uniform
from octant.failure import Refusal
from octant.network import solve

LONG = """
import sys
sys.path.insert(0, "tests/support")
from networks import network, uniform
from octant.network import solve
machine = network("torus", "random-minimal", sizes=(16, 16, 8))
print("begins", flush=True)
try:
    solve(machine, uniform(machine), "enumeration")
except KeyboardInterrupt:
    print("interrupted")
"""


def test_what_would_take_more_than_ten_minutes_is_refused_with_an_estimate() -> None:
    machine = network("torus", "valiant", sizes=(32, 32, 32))
    with pytest.raises(Refusal, match=r"would take about \d+ (min|h) of processor time, and the bound is 10 min"):
        solve(machine, uniform(machine), "enumeration")


def test_ctrl_c_ends_a_long_computation() -> None:
    child = subprocess.Popen([sys.executable, "-c", LONG], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "begins\n"
    time.sleep(1)
    assert child.poll() is None
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=20)[0] == "interrupted\n"
