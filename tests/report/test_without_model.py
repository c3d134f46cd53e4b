"""A report needs no network module: the flavour of `make openmpi` has none."""

import subprocess
import sys


def test_tables_and_pages_are_made_without_the_network_module() -> None:
    code = (
        "import sys\n"
        "sys.modules['octant._network'] = None\n"
        "import importlib.util\n"
        "find = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *rest: None if name == 'octant._network' else find(name, *rest)\n"
        "from fake_run import fake_run\n"
        "from octant.analysis.summary import summarise\n"
        "from octant.report.charts.pictures import pictures\n"
        "from octant.report.page import run_page\n"
        "from octant.report.tables import text\n"
        "assert pictures(summarise(fake_run(), all_metrics=True))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
