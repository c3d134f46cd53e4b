"""What an evaluation needs is imported without the engine of the network model, which would be built for it."""

import subprocess
import sys

PROGRAM = """
import importlib, pkgutil, sys
import octant.advice.findings as findings
import octant.report.page.run_page, octant.report.profile.run_report, octant.runs.session, octant.suites
for one in pkgutil.iter_modules(findings.__path__, "octant.advice.findings."):
    importlib.import_module(one.name)
print([name for name in sys.modules if name.startswith(("octant.network", "octant._network"))])
"""


def test_reports_and_findings_do_not_import_the_network_model() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr
