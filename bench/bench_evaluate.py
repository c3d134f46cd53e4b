"""Time of `octant evaluate --quick` by part, and accuracy of the estimates for the quick and the full suite.

The quick suite is measured twice: with an estimate from rules alone, then with one from the first run. With `--full`
the full suite follows. If the folder of a stored run is given, only its time is analysed.

Goal: under 90 s on two quiet cores, which leaves as much for `make setup`; within 20 % of the estimate.
"""

import datetime
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

PARTS = ("build_s", "measure_s", "check_s")
KINDS = ("start", "fill", "measure", "check")


def measured(store: Path, suite: str) -> Path:
    """Return the folder of a new run, and print the estimated and the actual time."""
    command = [sys.executable, "-m", "octant.cli", "evaluate", suite, "--store", str(store)]
    done = subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = done.stderr.splitlines()
    took, promised = re.findall(r"[0-9.]+ (?:s|min|h \d+ min)", next(line for line in said if ": took " in line))
    print(f"evaluate {suite}: {said[0]}; took {took}: {seconds_of(took) / seconds_of(promised):.2f} of the promise")
    return max((store / "runs").iterdir())


def seconds_of(text: str) -> float:
    """Seconds of `48 s`, `8.4 min` or `1 h 20 min`."""
    words = text.split()
    return sum(
        float(number) * {"s": 1, "min": 60, "h": 3600}[unit]
        for number, unit in zip(words[::2], words[1::2], strict=True)
    )


def shares(folder: Path) -> tuple[float, int, Counter[tuple[str, str]]]:
    """Seconds from the first launch to the last record, launches, and seconds by workload and part of a point."""
    spent: Counter[tuple[str, str]] = Counter()
    launches = 0
    for text in (folder / "records.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(text)
        launches += record["kind"] == "launch"
        for part, kind in zip(PARTS, KINDS[1:], strict=True):
            spent[record["workload"], kind] += record.get("spent", {}).get(part, 0.0)
    begin = datetime.datetime.fromisoformat(json.loads((folder / "asked.json").read_text(encoding="utf-8"))["started"])
    return (folder / "records.jsonl").stat().st_mtime - begin.timestamp(), launches, spent


def main() -> None:
    """Print the seconds of each workload and part, and their shares of the total."""
    named = [word for word in sys.argv[1:] if word != "--full"]
    with tempfile.TemporaryDirectory() as fresh:
        folder = Path(named[0]) if named else measured(Path(fresh), "--quick")
        total_s, launches, spent = shares(folder)
        if not named:
            measured(Path(fresh), "--quick")
            if "--full" in sys.argv:
                measured(Path(fresh), "--full")
    print(f"{total_s:.1f} s for {launches} launches (goal < 90 s); report not counted")
    print(f"{'':<22}" + "".join(f"{kind:>10}" for kind in KINDS[1:]))
    for workload in sorted({name for name, _ in spent}):
        print(f"{workload:<22}" + "".join(f"{spent[workload, kind]:>8.1f} s" for kind in KINDS[1:]))
    inside_s = sum(spent.values())
    parts = {kind: sum(s for (_, one), s in spent.items() if one == kind) for kind in KINDS[1:]}
    for kind, seconds in {"start": total_s - inside_s, **parts}.items():
        print(f"{kind:<22}{seconds:>8.1f} s {100 * seconds / total_s:>7.0f} %")


if __name__ == "__main__":
    main()
