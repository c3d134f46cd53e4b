"""Where the time of `octant evaluate --quick` goes: measures once, or reads the stored run whose folder is named.

Goal: under 90 s on two quiet cores, which leaves as much for `make setup`.
"""

import datetime
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

PARTS = ("build_s", "measure_s", "check_s")
KINDS = ("start", "fill", "measure", "check")


def measured(store: Path) -> Path:
    """The folder of a fresh run."""
    command = [sys.executable, "-m", "octant.cli", "evaluate", "--quick", "--store", str(store)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return max((store / "runs").iterdir())


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
    """Prints the seconds of each workload and part, and their shares of the whole."""
    with tempfile.TemporaryDirectory() as fresh:
        total_s, launches, spent = shares(Path(sys.argv[1]) if len(sys.argv) > 1 else measured(Path(fresh)))
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
