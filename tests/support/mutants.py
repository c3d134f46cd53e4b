"""Mutates one area of the code and counts the mutants that its tests kill: `make mutants AREA=stats`.

Mutants are made by mutmut in a copy of the sources, so that no installed package is in the way; the last line is the
score, with its 95 % interval where a random sample was tried. mutmut forks a process that has imported the sources,
where a change of a function that imports call has no effect; survivors of these functions are therefore tried again in
a process of their own. What survives is listed before the score; `mutmut show NAME` in the folder of the area prints
its difference. Survivors that `tests/data/equivalent-mutants.toml` lists, each with the reason why it changes no
behaviour, are not counted; nor are those that take a check of lengths from a `zip`, or change the case of SQL.
"""

import argparse
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from paths import DATA, ROOT


@dataclass(frozen=True)
class Area:
    """Files that are mutated, and the tests that look at them: fast ones, which start no kernel."""

    files: tuple[str, ...]
    tests: tuple[str, ...]
    leave_out: tuple[str, ...] = field(default=())


AREAS = {
    "stats": Area(("stats/*",), ("tests/stats",), ("alarm", "four_of_five", "rarely_says", "covers")),
    "analysis": Area(("analysis/*",), ("tests/analysis",), ("alarm",)),
    "record": Area(("record/*",), ("tests/record", "tests/store/test_format1.py")),
    "store": Area(("store/*",), ("tests/store", "tests/test_output.py")),
    "foreign": Area(("foreign/*",), ("tests/foreign", "tests/store/test_imported.py"), ("soon",)),
    "network": Area(
        ("network/*",),
        (
            "tests/network",
            "tests/cli/test_model.py",
            "tests/cli/test_model_answers.py",
            "tests/cli/test_model_hints.py",
            "tests/cli/test_model_views.py",
            "tests/report/network",
            "tests/simulate/test_run_calibration.py",
            "tests/simulate/test_noise.py",
            "tests/simulate/test_timestep.py",
            "tests/study/test_model_studies.py",
        ),
        ("ctrl_c", "long_computation", "before_anything_starts"),
    ),
    "planner": Area(
        ("placement/planner.py", "placement/request.py"),
        ("tests/placement/test_planner.py", "tests/placement/test_request.py", "tests/placement/test_expressions.py"),
    ),
    "verdict": Area(
        ("study/verdict.py", "stats/verdicts.py", "study/kinds/*"),
        (
            "tests/study",
            "tests/stats/test_paired.py",
            "tests/stats/test_occasions.py",
        ),
        ("is_rare", "another_file", "alarm", "four_of_five"),
    ),
}


def main() -> int:
    """Runs one area and prints its survivors and its score."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("area", choices=AREAS)
    parser.add_argument("--sample", type=int, default=0, help="mutants to try, drawn at random [default: all]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    folder = prepare(asked.area)
    names = every_mutant(folder)
    tried = random.Random(asked.seed).sample(names, asked.sample) if 0 < asked.sample < len(names) else names
    said = mutmut(folder, "run", "--max-children", str(asked.jobs), *tried)
    found = results(folder)
    if not found.keys() >= set(tried) or any(found[name] == "not checked" for name in tried):
        print(*re.split("[\r\n]+", said)[-20:], sep="\n")
        print("cannot try the mutants (a test fails without one); correct that test", file=sys.stderr)
        return 1
    survivors = sorted(name for name in tried if found[name] not in ("killed", "timeout", "caught by type check"))
    same = [name for name in survivors if is_equivalent(*changed_lines(mutmut(folder, "show", name)))]
    at_import = called_at_import(folder, AREAS[asked.area])
    again = [name for name in survivors if name not in same and name.rpartition("__mutmut_")[0] in at_import]
    killed_alone = [name for name in again if not survives_alone(folder, AREAS[asked.area], name)]
    survivors = [name for name in survivors if name not in killed_alone]
    for name in survivors:
        print(f"{'equivalent' if name in same else found[name]}: {name}")
    print(score_text(asked.area, len(tried) - len(same), len(survivors) - len(same), len(names), len(same)))
    return 0


def prepare(area: str) -> Path:
    """A folder with copies of what mutmut reads, and its configuration."""
    folder = ROOT / "build" / "mutants" / area
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    ignored = shutil.ignore_patterns("__pycache__", "throwaway")
    shutil.copytree(ROOT / "src", folder / "src", ignore=ignored)
    compiled = next((ROOT / "build" / "dev" / "bin").glob("_network*.so"))
    shutil.copy(compiled, folder / "src" / "octant")
    others = ["tests", "conftest.py", "machines", "docs", "examples"]
    for name in others:
        (folder / name).symlink_to(ROOT / name)
    tests = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    (folder / "pyproject.toml").write_text(configuration(AREAS[area], others, tests))
    return folder


def configuration(area: Area, others: list[str], tests: dict[str, object]) -> str:
    """The text of pyproject.toml: pytest's part as it is, and mutmut's."""
    mutmut_part = {
        "source_paths": ["src"],
        "only_mutate": [f"src/octant/{file}" for file in area.files],
        "also_copy": others,
        "pytest_add_cli_args": options(area),
        "pytest_add_cli_args_test_selection": list(area.tests),
        "use_git_change_detection": False,
    }
    parts = {"tool.pytest.ini_options": tests, "tool.mutmut": mutmut_part}
    return "".join(
        f"[{name}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in part.items())
        for name, part in parts.items()
    )


def options(area: Area) -> list[str]:
    """The options of pytest that choose the fast tests of an area."""
    without = " and ".join(f"not {word}" for word in area.leave_out)
    return ["--quick", "--hypothesis-profile=mutants", *(["-k", without] if without else [])]


def environment(**more: str) -> dict[str, str]:
    """The environment of the tests; the threads of the network's engine would wait for each other on busy cores."""
    kernels = str(ROOT / "build" / "dev" / "bin")
    return {
        **os.environ,
        "PYTHONPATH": f"{ROOT / 'tests'}:{ROOT / 'tests/support'}",
        "OMP_NUM_THREADS": "1",
        "OCTANT_KERNELS": kernels,
        **more,
    }


def mutmut(folder: Path, *words: str) -> str:
    """The output of mutmut in a folder."""
    script = Path(sys.executable).parent / "mutmut"
    done = subprocess.run(
        [script, *words], cwd=folder, env=environment(), stdout=subprocess.PIPE, text=True, check=False
    )
    return done.stdout


CALLED_AT_IMPORT = """
import importlib, sys
called = set()
def note(frame, event, _):
    name, mark, _ = frame.f_code.co_name.rpartition("__mutmut_orig")
    if event == "call" and mark:
        called.add(f"{frame.f_globals['__name__']}.{name}")
sys.setprofile(note)
for module in sys.argv[1:]:
    importlib.import_module(module)
sys.setprofile(None)
print(*called, sep="\\n")
"""


def called_at_import(folder: Path, area: Area) -> set[str]:
    """The functions that the import of an area's modules calls, as names of mutants begin."""
    sources = folder / "mutants" / "src"
    files = [
        file for pattern in area.files for file in sorted((sources / "octant").glob(pattern)) if file.suffix == ".py"
    ]
    modules = [".".join(file.relative_to(sources).with_suffix("").parts).removesuffix(".__init__") for file in files]
    variables = environment(PYTHONPATH=str(sources), MUTANT_UNDER_TEST="none")
    words = [sys.executable, "-c", CALLED_AT_IMPORT, *modules]
    return set(subprocess.run(words, env=variables, stdout=subprocess.PIPE, text=True, check=True).stdout.split())


def survives_alone(folder: Path, area: Area, mutant: str) -> bool:
    """Whether all tests of an area pass in a process that has the mutant before it imports anything."""
    copied = folder / "mutants"
    variables = environment(MUTANT_UNDER_TEST=mutant)
    variables["PYTHONPATH"] = f"{copied / 'src'}:{variables['PYTHONPATH']}"
    words = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *options(area), *area.tests]
    done = subprocess.run(words, cwd=copied, env=variables, stdout=subprocess.DEVNULL, check=False)
    return done.returncode == 0


def every_mutant(folder: Path) -> list[str]:
    """Makes all mutants, tries none, and gives their names."""
    mutmut(folder, "run", "no.such.mutant")
    return list(results(folder))


def results(folder: Path) -> dict[str, str]:
    """What came of each mutant."""
    lines = (line.strip().rpartition(": ") for line in mutmut(folder, "results", "--all", "true").splitlines())
    return {name: outcome for name, _, outcome in lines if name}


def changed_lines(difference: str) -> tuple[str, str]:
    """The lines that a mutant replaces, and those that it puts there, without blanks around them."""
    lines = [line for line in difference.splitlines() if line[:3] not in ("---", "+++")]
    was, now = ("\n".join(line[1:].strip() for line in lines if line.startswith(sign)) for sign in "-+")
    return was, now


def is_equivalent(was: str, now: str) -> bool:
    """Whether a mutant is known to change no behaviour."""
    listed = tomllib.loads((DATA / "equivalent-mutants.toml").read_text())["mutant"]
    if ".execute(" in was and was.lower() == now.lower():
        return True
    without = [re.sub(r",? *strict=\w+|, (?=\))", "", lines) for lines in (was, now)]
    return without[0] == without[1] or any((one["was"], one["now"]) == (was, now) for one in listed)


def score_text(area: str, tried: int, survived: int, of: int, excluded: int) -> str:
    """`stats: 92.1 % of 480 mutants killed (38 survived), 12 equivalent`; a sample has its interval (Wilson 1927)."""
    share = 1 - survived / tried
    text = f"{area}: {100 * share:.1f} % of {tried} mutants killed ({survived} survived), {excluded} equivalent"
    if tried + excluded == of:
        return text
    z2 = 1.96**2
    middle = (share + z2 / (2 * tried)) / (1 + z2 / tried)
    half = 1.96 * math.sqrt(share * (1 - share) / tried + z2 / (4 * tried**2)) / (1 + z2 / tried)
    return f"{text}, drawn from {of}; 95 % interval {100 * (middle - half):.1f} to {100 * (middle + half):.1f} %"


if __name__ == "__main__":
    sys.exit(main())
