"""Rules of the tree that nothing else would notice."""

import ast
import fnmatch
import json
import re
import subprocess
import sysconfig
from collections import Counter
from pathlib import Path

import pytest

import trips
from cpp_functions import function_lengths
from module_graph import collapse, cycles, import_graph, tree_of
from octant import workloads
from octant.benchmarks.table import read_tests
from octant.build import program_name
from octant.workloads import _template
from paths import ROOT

HEADINGS = ["What it does", "Why it is here", "What limits it", "How it is verified", "Pitfalls", "References"]
FOLDERS = sorted(path.parent for path in (ROOT / "src/octant/workloads").glob("*/*/kernel.cpp"))
LONGEST_FUNCTION, LONGEST_FILE = 60, 600
MAX_FILES_OF_REPORT = 12
"""Files in a folder of `report`."""
NOT_OURS = re.compile(r"\.git/|\.venv|build/|octant-store/|node_modules/|.*/?__pycache__/")


def identity(folder: Path) -> str:
    return f"{folder.parent.name}/{folder.name}"


def files(*patterns: str, root: Path = ROOT) -> list[Path]:
    """Return the files that match a pattern, whose `*` includes `/`: those tracked by git, or all without git."""
    listed = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=root, capture_output=True, text=True, check=False)
    names = [name for name in listed.stdout.split("\0") if name]
    if listed.returncode or not names:
        every = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
        ours = (path.as_posix() for path in every if not NOT_OURS.match(path.as_posix()))
        names = [name for name in ours if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)]
    for pattern in patterns:
        assert any(fnmatch.fnmatchcase(name, pattern) for name in names), f"no file fits {pattern}: nothing is checked"
    return [root / name for name in names]


def test_the_outcome_of_a_study_is_made_of_data() -> None:
    """What a reader has to open to follow it; at 52edef8a these were 73 files."""
    assert len(trips.trips(ROOT)["the outcome of a study"]) <= 28


def test_rules_are_checked_without_git_too_and_not_of_nothing(tmp_path: Path) -> None:
    for name in ("src/octant/a.py", "build/b.py", ".venv-openmpi/c.py", "native/d.hpp"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert files("*.py", root=tmp_path) == [tmp_path / "src/octant/a.py"]
    assert files("src/*.py", "*.hpp", root=tmp_path) == [tmp_path / "src/octant/a.py", tmp_path / "native/d.hpp"]
    with pytest.raises(AssertionError, match=r"no file fits \*\.cpp: nothing is checked"):
        files("*.py", "*.cpp", root=tmp_path)
    assert len(files("src/*.py")) > 400


@pytest.mark.parametrize("folder", FOLDERS, ids=identity)
def test_a_workload_is_a_whole_folder_and_its_kernel_is_built(folder: Path, kernels: Path) -> None:
    page = (folder / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", page, re.MULTILINE) == HEADINGS
    assert list(folder.glob("test_*.py")), "a workload brings its tests"
    assert workloads.workload(identity(folder)).name == identity(folder)
    assert (kernels / program_name(identity(folder))).exists()


def test_python_and_cmake_list_the_same_workloads() -> None:
    assert set(workloads.workloads()) == set(map(identity, FOLDERS))


def test_a_new_workload_compiles_and_is_whole(tmp_path: Path) -> None:
    written = _template.write("my_kernel", tmp_path)
    names = ["README.md", "__init__.py", "step.py", "kernel.cpp", "test_my_kernel.py"]
    assert [path.relative_to(tmp_path / "node" / "my_kernel").as_posix() for path in written[:-1]] == names
    assert written[-1] == tmp_path / "node" / "__init__.py", "a new family is a file too"
    for path in written:
        if path.suffix == ".py":
            ast.parse(path.read_text(encoding="utf-8"))
    assert re.findall(r"^## (.+)$", written[0].read_text(encoding="utf-8"), re.MULTILINE) == HEADINGS
    include = Path(sysconfig.get_path("data")) / "include"
    command = ["c++", "-std=c++20", "-fsyntax-only", "-fopenmp", "-DMPI_ABI", f"-isystem{include}"]
    command += [f"-I{ROOT / 'native/harness'}", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wpedantic", "-Werror"]
    done = subprocess.run(
        [*command, tmp_path / "node/my_kernel/kernel.cpp"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for bad in ("My-Kernel", "", "../up", "node/", "a/b/c"):
        with pytest.raises(SystemExit, match="cannot name a workload"):
            _template.write(bad, tmp_path)
    with pytest.raises(SystemExit, match="it exists"):
        _template.write("node/my_kernel", tmp_path)


def test_no_function_and_no_file_has_grown_too_long() -> None:
    long = []
    for path in files("src/*.py", "bench/*.py"):
        text = path.read_text(encoding="utf-8")
        if text.count("\n") > LONGEST_FILE:
            long.append(f"{path.name}: {text.count(chr(10))} lines")
        functions = [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.FunctionDef)]
        long += [f"{path.name}: {f.name}" for f in functions if (f.end_lineno or 0) - f.lineno >= LONGEST_FUNCTION]
    long += [p.name for p in files("*.cpp", "*.hpp") if p.read_text(encoding="utf-8").count("\n") > LONGEST_FILE]
    assert not long


LONG_CPP_FUNCTIONS = {
    "native/network/python.cpp: void bind_network(nb::module_& m) {": 131,
    "native/network/python.cpp: void bind_topologies(nb::module_& m) {": 87,
    "native/network/topology/two_level.cpp: std::optional<std::vector<LoadGroup>> "
    "TwoLevel::uniform(RoutingChoice const& choice,": 67,
}
"""Functions of C++ that are longer than the limit. They may only become shorter, and the table only smaller."""


def test_no_function_of_cpp_has_grown_too_long() -> None:
    found = {
        f"{path.relative_to(ROOT).as_posix()}: {first}": lines
        for path in files("native/*.cpp", "native/*.hpp", "src/*.cpp", "src/*.hpp")
        if "native/tests/" not in path.as_posix()
        for first, lines in function_lengths(path.read_text(encoding="utf-8"))
    }
    assert len(found) > 1500
    assert {name: lines for name, lines in found.items() if lines > LONGEST_FUNCTION} == LONG_CPP_FUNCTIONS


def test_the_length_of_a_function_of_cpp_is_measured() -> None:
    text = """namespace octant {

struct Row {
    int wide() const {
        return 1;
    }
};

Table const table{
    .read = [](int n) {
        return n;
    },
};

template <typename T>
static void long_one(T const& first,
                     int second) {
    auto inner = [&](int n) {
        return n;
    };
    if (second) {
        inner(2);
    }
}

}  // namespace octant
"""
    assert list(function_lengths(text)) == [("int wide() const {", 3), ("template <typename T>", 10)]


def test_no_folder_of_reports_has_many_files() -> None:
    folders = Counter(path.parent.relative_to(ROOT).as_posix() for path in files("src/octant/report/*"))
    assert {folder: count for folder, count in folders.items() if count > MAX_FILES_OF_REPORT} == {}


def test_documented_files_exist() -> None:
    """A file or folder in the text of these pages is relative to the checkout, to the package, or in a folder."""
    tree = [path.relative_to(ROOT).as_posix() for path in files("*")]
    missing = [
        f"{page}: {name}"
        for page in ("ARCHITECTURE.md", "CONTRIBUTING.md")
        for name in re.findall(r"`([a-z0-9_/.-]+\.(?:py|toml|hpp|cpp|md|jinja))`", (ROOT / page).read_text("utf-8"))
        if not any(f"/{path}".endswith(f"/{name}") for path in tree)
    ]
    assert missing == []


def test_no_modules_import_each_other() -> None:
    graph = import_graph(ROOT / "src")
    assert len(graph) > 500
    assert len(graph["octant.study.outcome"]) > 10
    assert cycles(graph) == []


def test_no_folders_of_a_package_import_each_other() -> None:
    """A folder in a package is used by the other modules of the package, or uses them."""
    graph = import_graph(ROOT / "src")
    packages = {module.rpartition(".")[0] for module in graph} - {""}
    assert {"octant.runs", "octant.study", "octant.report.charts"} < packages
    assert [cycle for package in sorted(packages) for cycle in cycles(collapse(graph, package))] == []


def test_folders_that_import_each_other_are_found() -> None:
    graph = {
        "a": {"a.b"}, "a.b": {"a.c.first"}, "a.c.first": set[str](), "a.c.second": {"a.b"}, "a.d": {"a.c", "e"},
        "a.c": {"a.c.first"}, "e": {"a.b"},
    }  # fmt: skip
    assert cycles(graph) == []
    assert collapse(graph, "a") == {"a.b": {"a.c"}, "a.c": {"a.b"}, "a.d": {"a.c"}}
    assert cycles(collapse(graph, "a")) == [["a.b", "a.c"]]


def test_modules_that_import_each_other_are_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set[str](), "e": {"a", "f"}, "f": {"e"}}
    assert cycles(graph) == [["b", "c"], ["e", "f"]]


def test_a_class_name_has_one_meaning() -> None:
    counts = Counter(
        node.name
        for path in files("src/octant/*.py")
        if not path.name.startswith("test_")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert len(counts) > 500
    assert {name: count for name, count in counts.items() if count > 1} == {}


def test_settings_of_mpi_and_launchers_are_one_package_each() -> None:
    modules = [path.relative_to(ROOT / "src/octant").with_suffix("") for path in files("src/octant/*.py")]
    assert {module.parts[0] for module in modules if module.name.startswith("mpi_")} <= {"mpi"}
    launchers = {module.parts[1] for module in modules if module.parts[0] == "launchers"} - {"__init__"}
    assert {"slurm", "openmpi", "numactl"} < launchers
    same_name = {
        module.as_posix()
        for module in modules
        if module.parts[0] in ("launch", "placement", "runs") and launchers & set(module.parts)
    }
    assert same_name == set()


def test_no_decision_depends_on_a_title() -> None:
    """A run states its benchmark; requests of earlier versions are recognised by their titles.

    The other exceptions, probes and the words of a suite in its title, may only become fewer.
    """
    decides = re.compile(r"\btitle\.(startswith|endswith|partition|split)\(|\btitle (==|!=|in) \S")
    deciding = {
        path.relative_to(ROOT / "src/octant").as_posix()
        for path in files("src/octant/*.py")
        if not re.search("report/|foreign/", path.as_posix()) and decides.search(path.read_text(encoding="utf-8"))
    }
    assert deciding == {"store/run_request.py", "analysis/summary.py", "runs/programs/command_text.py"}


def test_limits_are_named_max() -> None:
    """`MOST_FILES` reads as most of the files; `_network` has old names, which are those of the engine."""
    constants = {
        target.id
        for path in files("src/octant/*.py", "tests/*.py", "bench/*.py")
        for node in tree_of(path).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    assert "MAX_KEYS" in constants
    assert {name for name in constants if re.match(r"_?MOST(_|$)", name)} == set()


def test_only_the_modules_that_may_touch_the_world_start_processes() -> None:
    allowed = {"launch", "build", "machine", "software", "store"}
    starts = {
        path.relative_to(ROOT / "src/octant").as_posix()
        for path in files("src/octant/*.py")
        if not path.name.startswith("test_")
        and re.search(r"^import subprocess|subprocess\.", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert {path for path in starts if path.split("/")[0] not in allowed} == set()


def test_no_file_outside_its_folder_names_a_workload() -> None:
    """So that one folder is all there is of it.

    Files that ask for measurements (suites, studies, benchmarks), tables of the names of other tools and of old names
    may. The others are exceptions, of which there may only be fewer.
    """
    name = re.compile(rf"(?<![\w/])({'|'.join(map(re.escape, map(identity, FOLDERS)))})(?![\w/])")
    may = re.compile(r"src/octant/(workloads|suites|study/studies|benchmarks/\w+|foreign)/")
    ours = files("src/octant/*.py", "src/octant/*.toml", "src/octant/*.jinja", "native/*.cpp", "native/*.hpp")
    naming = {
        relative
        for path in ours
        for relative in [path.relative_to(ROOT).as_posix()]
        if not may.match(relative) and "/tests/" not in relative and any(map(name.search, _constants(path, False)))
    }
    assert naming == {
        "src/octant/record/format1.py",  # old names
        "src/octant/analysis/appendix/rows.toml", "src/octant/mpi/faults.toml",  # ask for measurements
        "src/octant/study/kinds/topology.py",  # a hint of an error
    }  # fmt: skip


def test_no_file_outside_its_folder_contains_the_text_of_a_result() -> None:
    """Other code finds results by the identifiers of `Workload.results`; a metric's name is an identifier too."""
    lines = map(json.loads, (ROOT / "tests/data/smoke-points.jsonl").read_text(encoding="utf-8").splitlines())
    texts = {one["name"] for line in lines for one in line.get("results", ()) if " " in one["name"]}
    texts |= {text for one in workloads.workloads().values() for text in one.results.values()}
    texts -= {metric.name for one in workloads.workloads().values() for metric in one.metrics}
    assert len(texts) > 60
    outside = [
        path
        for path in files("src/octant/*.py", "src/octant/*.toml", "bench/*.py")
        if "workloads/" not in path.as_posix()
    ]
    naming = [
        (path.relative_to(ROOT).as_posix(), text)
        for path in outside
        for constant in _constants(path)
        for text in texts
        if text in constant or (constant.strip().count(" ") > 2 and text.startswith(constant))
    ]
    assert naming == []


def _constants(path: Path, docstrings: bool = True) -> list[str]:
    """Return the texts in a Python file, or the whole text of another file."""
    if path.suffix != ".py":
        return [path.read_text(encoding="utf-8")]
    nodes = list(ast.walk(tree_of(path)))
    without = () if docstrings else {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    found = (node.value for node in nodes if isinstance(node, ast.Constant) and id(node) not in without)
    return [value for value in found if isinstance(value, str)]


def test_the_network_model_and_the_study_format_name_no_benchmark() -> None:
    """They know the steps that workloads declare. Some patterns of traffic have the name of the test that makes them:
    users write it in network files and after `--traffic`.
    """
    known = workloads.workloads()
    names = {one.scaling.name for one in known.values() if one.scaling} | {"hpcc", "imb", "osu"}
    names |= {*known, *(one.name for one in read_tests("hpcc"))}
    naming: dict[str, set[str]] = {}
    for path in [*files("src/octant/network/*.py"), *files("src/octant/study/*.py")]:
        constants = {n.value for n in ast.walk(tree_of(path)) if isinstance(n, ast.Constant)}
        for name in sorted(names & {one for one in constants if isinstance(one, str)}):
            naming.setdefault(path.relative_to(ROOT / "src/octant").as_posix(), set()).add(name)
    assert naming == {
        "network/applications.py": {"ptrans", "random-ring"},
        "network/overview.py": {"random-ring"},
        "network/scale.py": {"gfft", "random-ring"},
        "network/traffic.py": {"ptrans", "random-ring", "randomaccess"},
    }


def test_every_test_is_collected(pytestconfig: pytest.Config) -> None:
    """Pytest passes over folders of some names, among them `build`, unless its options include them."""
    passed_over = pytestconfig.getini("norecursedirs")
    roots = [ROOT / name for name in pytestconfig.getini("testpaths")]
    tests = files("*/test_*.py")
    assert len(tests) > 200
    assert [test for test in tests if not any(test.is_relative_to(root) for root in roots)] == []
    folders = {part for test in tests for part in test.relative_to(ROOT).parts[:-1]}
    assert [name for name in folders if any(fnmatch.fnmatch(name, pattern) for pattern in passed_over)] == []


def test_no_link_is_tracked() -> None:
    """One to a folder of another user would be followed by who runs what lies there."""
    listed = subprocess.run(["git", "ls-files", "-s"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    if not listed:
        pytest.skip("git tracks no file here")
    assert [line for line in listed.splitlines() if line.startswith("120000")] == []


def test_nothing_hands_text_to_a_shell() -> None:
    pattern = re.compile(r"shell=True|os\.system\(|os\.popen\(|\bstd::system\(|\bpopen\(|\beval\(|\bexec\(")
    ours = [path for path in files("*.py", "*.cpp", "*.hpp") if path.name != "test_layout.py"]
    assert [path.name for path in ours if pattern.search(path.read_text(encoding="utf-8"))] == []


def test_files_of_others_are_read_through_untrusted_alone() -> None:
    """So that each has a size, a depth and a refusal."""
    own = {  # our data, the kernel's files, what our programs say
        "build/__init__.py", "build/describe.py", "build/smpi.py",  # programs of ours
        "build/version.py", "build/compiler.py", "build/on_demand.py",  # the source tree's own, and the system's
        "catalogue/__init__.py", "network/published_points.py",
        "analysis/appendix/__init__.py",
        "benchmarks/messages/patterns.py", "benchmarks/table.py", "foreign/_imb_head.py", "foreign/_names.py",
        "network/ibnet.py", "renamed.py",
        "report/tables/workloads.py", "report/export/tidy.py", "report/export/knob_columns.py", "report/study/page.py",
        "study/file.py", "suites/__init__.py",
        "launch/execute.py", "launch/leftovers.py", "launch/link.py", "launch/pages.py",
        "launch/processes.py", "launch/submit.py", "launch/watch.py",
        "machine/hwloc/_helper.py", "machine/recording.py", "machine/tree.py",
        "simulate/simulated_workload.py", "software/observe.py",
        "mpi/faults.py", "mpi/inventory.py", "mpi/knobs.py", "mpi/neutral.py", "mpi/proof.py",
        "simulate/simgrid.py", "untrusted.py",
        "network/files.py", "network/topologies.py", "record/format1.py", "store/__init__.py",  # of networks and stores
        "runs/programs/values.py",  # what a program printed: bounded, and missing where it cannot be read
    }  # fmt: skip
    reads = re.compile(r"\.read_text\(|\.read_bytes\(|tomllib\.load|json\.loads?\(|[^.\w]open\(")
    reading = {
        path.relative_to(ROOT / "src/octant").as_posix()
        for path in files("src/octant/*.py")
        if not path.name.startswith("test_") and reads.search(path.read_text(encoding="utf-8"))
    }
    assert reading <= own
