"""Every option, variable and command in front is accounted for: the answer is refused, changed, or lists it."""

import functools
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from launcher_syntax import REFERENCE, masks, read
from octant.cli import application
from octant.launchers import _tables, _wrappers, from_syntax, launchers_with_role, translate
from octant.placement import set_text

VALID = {
    "aix": ["execrset -c 0-3 -e p"],
    "bluegene": ["mpirun -np 4 -env BG_MAPPING=TXYZ p", "runjob --np 4 --mapping ABCDET : p"],
    "cray": ["mpiexec -n 2 --depth 4 --cpu-bind list:0-3:4-7 p", "aprun -n 2 -d 4 -cc 0-3:4-7 p"],
    "flux": [f"flux run {n} -o cpu-affinity='map:0-1;2-3' p" for n in ("-n 2", "-N 1 --tasks-per-node=2")],
    "gomp": ["OMP_NUM_THREADS=2 GOMP_CPU_AFFINITY=0-3:2 ./p"],
    "hwloc": ["hwloc-bind core:0-1 -- p"],
    "intelmpi": ["I_MPI_PIN_DOMAIN=core mpirun -n 2 p"],
    "kmp": ["OMP_NUM_THREADS=2 KMP_AFFINITY=scatter ./p"],
    "likwid": ["likwid-pin -c 0-3 p", "likwid-mpirun -np 2 -pin 0,1_2,3 p"],
    "loadleveler": ["#@rset = rset_mcm_affinity\n#@task_affinity = core(1)\n#@tasks_per_node = 2"],
    "mpich": ["mpiexec -n 2 -bind-to core p", "OMP_NUM_THREADS=2 mpiexec -n 2 -bind-to core:2 p"],
    "numactl": ["numactl -C 0-3 p"],
    "openmp": ["OMP_NUM_THREADS=2 OMP_PLACES=cores ./p"],
    "openmpi": ["mpirun -np 2 --map-by numa p", "mpirun -np 2 --map-by numa:PE=2 p"],
    "openmpi41": [
        "mpirun -np 4 --mca rmaps_base_ranking_policy slot p",
        "mpirun --mca rmaps_base_mapping_policy core p",
    ],
    "poe": ["MP_PROCS=2 MP_TASK_AFFINITY=CORE poe ./p"],
    "slurm": ["srun -n 2 -c 2 -m block:block p", "srun -n 2 p"],
    "taskset": ["taskset -c 0-3 p"],
    "xlsmp": ["OMP_NUM_THREADS=2 XLSMPOPTS=startproc=0:stride=4 ./p"],
}
"""At least one line for each launcher that is read back."""
LINES = [pytest.param(name, line, id=f"{name}-{line[:12]}") for name in VALID for line in VALID[name]]
VALUES = ("2", "1", "3", "4", "8-9", "0x3", "core", "numa", "socket", "none", "off", "depth", "interleave", "scatter",
          "A=B", "list:8-9:10-11", "8-9:10-11", "cpu-affinity=off", "OMP_NUM_THREADS=3", "XYZT", "a,b")  # fmt: skip
WITHOUT_EFFECT = {
    ("aix", "e"): "it ends the options",
    ("flux", "ntasks"): "fewer ranks than sets are tried by --nodes",
    ("hwloc", "cpubind"): "locations are for CPUs by default",
    ("hwloc", "logical"): "numbers are logical ones by default",
    ("hwloc", "strict"): "it makes a policy strict, and no policy is drawn",
    ("hwloc", "mempolicy"): "it needs --membind",
    ("hwloc", "membind"): "it needs nodes behind it",
    ("numactl", "all"): "no CPU of this machine is withheld",
}
"""Interpreted options that need another option, or state the default."""


@functools.cache
def answer(text: str) -> tuple[object, ...]:
    """All that a user sees of a reading, except the words of the line."""
    reading = read(text)
    ranks = [(place.cpus, place.threads, place.memory, place.coordinates) for place in reading.placement.ranks]
    return str(reading.request), ranks, reading.remarks


def check(before: str, after: str, word: str) -> None:
    """Require that the second line is refused, answered in another way, or lists the word."""
    try:
        changed = answer(after)
    except ValueError:
        return
    assert changed != answer(before), f"{word} is skipped silently in {after!r}"


def head(name: str, line: str) -> tuple[str, str]:
    """Split a line behind the word of its command, where the options of a launcher begin."""
    words = shlex.split(line)
    at = next(i for i, word in enumerate(words) if "=" not in word) + 1
    at += words[at - 1 : at] == ["flux"]
    return shlex.join(words[:at]), shlex.join(words[at:])


def commands() -> list[tuple[str, str]]:
    return [(name, line) for name in VALID for line in VALID[name]
            if hasattr(launchers_with_role("read")[name], "parse") and name != "poe"]  # fmt: skip


def spelt(name: str, line: str, option: str) -> Iterator[str]:
    """Return the option with the dashes that this launcher accepts."""
    del line
    single = len(option) == 1 or name in ("aix", "bluegene", "likwid", "mpich", "intelmpi")
    yield f"-{option}" if single else f"--{option}"
    yield f"--{option}"


def test_there_is_a_line_for_every_launcher_that_is_read_back() -> None:
    assert set(VALID) == set(launchers_with_role("read"))
    for name, lines in VALID.items():
        for line in lines:
            assert from_syntax(line, REFERENCE)[0] == name


@pytest.mark.parametrize(("name", "line"), commands())
def test_an_option_that_is_not_interpreted_is_refused_or_listed(name: str, line: str) -> None:
    begin, end = head(name, line)
    tables = [table for table in vars(launchers_with_role("read")[name]).values() if isinstance(table, dict)]
    options = {key: one for table in tables for key, one in table.items() if isinstance(one, _tables.OptionFacts)}
    tried = 0
    for option, known in options.items():
        if known.effect not in ("irrelevant", "not read", "refused") or "*" in option or option.isupper():
            continue
        for word in spelt(name, line, option):
            tried += 1
            check(line, f"{begin} {word} {' '.join(['2'] * max(known.values, 0))} {end}", word)
    for word in ("--zzz", "-zzz", "--zzz=2", "-9", "--bind-too core", "--cpu-sett=3"):
        check(line, f"{begin} {word} {end}", word)
    assert tried >= 2 * (name not in ("taskset",))


@pytest.mark.parametrize("name", sorted({name for name, _ in commands()}))
def test_an_interpreted_option_has_an_influence(name: str) -> None:
    options = {key: known for key, known in launchers_with_role("read")[name].OPTIONS.items() if key}
    said = {key for key, known in options.items() if known.effect in ("interpreted", "assigning")}
    said -= {key for key, known in options.items() if (name, known.name) in WITHOUT_EFFECT}
    for line in VALID[name]:
        said -= set(_influential(name, line, said))
    assert not said, "they are said to be interpreted, and nothing depends on them"


def _influential(name: str, line: str, among: set[str]) -> Iterator[str]:
    """Return the options that change the placement, or that are refused for a reason other than spelling."""
    (begin, end), base = head(name, line), answer(line)
    for key, known in launchers_with_role("read")[name].OPTIONS.items():
        if key in among and any(
            _differs(base, text)
            for word in spelt(name, line, key)
            for value in (VALUES if known.values else ("",))
            for text in (f"{begin} {word} {value} {end}", f"{begin} {end.rpartition(' ')[0]} {word} {value} p")
        ):
            yield key


def _differs(base: tuple[object, ...], text: str) -> bool:
    try:
        return answer(text) != base
    except ValueError as error:
        return "cannot interpret the command line" not in str(error)


@given(st.sampled_from(commands()), st.from_regex(r"--?[a-z][a-z-]{1,12}(=[a-z0-9]{1,5})?", fullmatch=True))
def test_an_option_of_any_name_is_accounted_for(case: tuple[str, str], word: str) -> None:
    name, line = case
    begin, end = head(name, line)
    try:
        parsed = launchers_with_role("read")[name].parse(shlex.split(f"{begin} {word} {end}"))
    except ValueError:
        return
    if any(known.effect != "interpreted" for spelling, known in parsed.occurrences if spelling == word):
        check(line, f"{begin} {word} {end}", word)


@pytest.mark.parametrize(("name", "line"), LINES)
def test_a_variable_is_refused_or_listed(name: str, line: str) -> None:
    known = launchers_with_role("read")[name].VARIABLES
    names = [key.replace("*", "ZZZ") for key, one in known.items() if one.effect != "interpreted"]
    names += [
        "ZZZ", "ZZZ_BINDING", "OMP_ZZZ", "KMP_TOPOLOGY_METHOD", "GOMP_RTEMS", "MV2_CPU_MAPPING", "MKL_NUM_THREADS",
        "OMP_THREAD_LIMIT", "SLURM_CPU_BINDING", "I_MPI_ZZZ", "OMPI_MCA_zzz", "HYDRA_ZZZ", "PATH", "HWLOC_XMLFILE",
    ]  # fmt: skip
    for variable in names:
        check(line, f"export {variable}=2\n{line}", variable)
        if not line.startswith("#"):
            check(line, f"{'' if '=' in line.split()[0] else 'env '}{variable}=2 {line}", variable)


@pytest.mark.parametrize(("name", "line"), [one for one in LINES if not str(one.values[1]).startswith("#")])
def test_a_command_in_front_is_refused_or_listed(name: str, line: str) -> None:
    words = shlex.split(line)
    at = next(i for i, word in enumerate(words) if "=" not in word)
    wrappers = ["perf stat -e cycles", "valgrind --tool=massif", "nice -n 5", "timeout 9", "strace -f -o x", "env A=b",
                *(one for one in _wrappers.WRAPPERS if one not in ("timeout", "nice", "env"))]  # fmt: skip
    unknown = ["./wrapper.sh", "wrapper", "likwid-perfctr -C 0-3 -g MEM", "singularity exec image", "jrun -n 4",
               "foorun", "dplace -s1", "./bind.sh --cpus 3", "taskset -c 9", "numactl -C 9",
               "hwloc-bind core:9 --"]  # fmt: skip
    for prefix in [*wrappers, *unknown]:
        before, behind = shlex.join(words[:at]), shlex.join(words[at:])
        check(line, f"{before} {prefix} {behind}", prefix)
        if len(words) - at > 1:  # in front of the program of a launcher
            check(line, f"{before} {shlex.join(words[at:-1])} {prefix} {words[-1]}", prefix)


@pytest.mark.parametrize(
    "variables", ["", "OMP_NUM_THREADS=8 OMP_PLACES=threads", "KMP_AFFINITY=compact", "OMP_NUM_THREADS=4"]
)
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("jsrun -n 2 -a 1 -c 8 p", "the options of jsrun are not supported"),
        ("lrun -n 2 p", "lrun may start ranks"),
        ("flux run -n 2 p", "the scheduler of Flux selects the cores"),
        ("aprun -n 2 -d 8 p", "the default binding depends on the configuration of the site"),
        ("mpiexec -n 2 --depth=8 --cpu-bind core p", "no verified rule for --cpu-bind core"),
        ("mpirun_rsh -np 2 a b p", "mpirun_rsh may start ranks"),
        ("ibrun -n 2 p", "ibrun may start ranks"),
        ("prun -n 2 p", "prun may start ranks"),
        ("./my-launch mpiexec -n 2 -bind-to core p", "the effect of my-launch on mpiexec is unknown"),
        ("mpirun -np 2 p", "cannot identify the MPI library of mpirun"),
    ],
)  # fmt: skip
def test_a_variable_does_not_hide_a_launcher(variables: str, line: str, said: str) -> None:
    """Case H12: the launcher was dropped where an OpenMP variable preceded it, and one rank was drawn."""
    with pytest.raises(ValueError, match=said):
        read(f"{variables} {line}")
    with pytest.raises(ValueError, match=said):
        read(f"export {variables or 'A=1'}\n{line}")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("OMP_NUM_THREADS=4 OMP_PLACES=cores mpiexec -n 2 --depth=4 --cpu-bind depth p", ["0-3", "4-7"]),
        ("mpiexec -n 8 --ppn 2 --cpu-bind list:0-3:8-11 p", ["0-3", "8-11"]),
        ("aprun -n 2 -cc 0,1:2-3 p", ["0-1", "2-3"]),
        ("aprun -n 2 -cc none p", ["0-31"] * 2),
        ("flux run -n 2 -o cpu-affinity='map:4-5;0x3' p", ["4-5", "0-1"]),
        ("flux run -n 1 -o cpu-affinity=off -o mpibind=off p", ["0-31"]),
    ],
)
def test_lines_of_launchers_that_are_not_here_are_read_from_documentation(line: str, expected: list[str]) -> None:
    topology = REFERENCE
    if "depth" in line:
        from octant.machine.hwloc import read_synthetic

        topology = read_synthetic("pack:1 numa:4 core:4 pu:2(indexes=core)")
    reading = read(line, topology)
    assert masks(reading) == expected
    assert any("from its documentation" in remark for remark in reading.remarks)


def test_depth_is_refused_where_numbers_of_one_core_follow_each_other() -> None:
    with pytest.raises(ValueError, match="the hardware threads of one core have consecutive numbers"):
        read("mpiexec -n 2 --depth=4 --cpu-bind depth p", REFERENCE)


def test_a_line_that_several_launchers_accept_says_what_decides() -> None:
    with pytest.raises(
        ValueError, match=r"MPICH .* Open MPI 5.*add one of these options to select one: .*-bind-to core \(MPICH"
    ) as refused:
        read("mpirun -np 2 ./a.out")
    assert "--map-by core (Open MPI 5)" in str(refused.value)


@pytest.mark.parametrize(
    ("version", "line", "said"),
    [
        ("HYDRA build details:", "mpirun -np 2 p", "mpich"),
        ("mpirun (Open MPI) 5.0.8", "mpirun -np 2 p", "openmpi"),
        ("mpirun (Open MPI) 5.0.8", "mpirun -np 2 -bind-to core p", "mpich"),  # an option of the line goes first
        ("mpirun 1.0", "mpirun -np 2 p", "cannot identify the MPI library of mpirun"),
        ("HYDRA build details:", "mpirun -n 2 --cpu-bind list:0:2 --depth 1 p", "cray"),
    ],
)
def test_here_the_program_on_path_decides_whose_line_it_is(
    version: str, line: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "mpirun"
    program.write_text(f"#!/bin/sh\necho '{version}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    if said.startswith("cannot"):
        with pytest.raises(ValueError, match=said):
            translate(line, REFERENCE, lines=True, here=True)
        return
    answer = translate(line, REFERENCE, lines=True, here=True)
    assert answer.read_as == said
    decided = any("because mpirun on this machine belongs to it" in remark for remark in answer.remarks)
    assert decided == (line == "mpirun -np 2 p")


def test_an_installed_launcher_without_the_options_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match=r"cannot identify the MPI library of mpirun: find the launcher mpirun"):
        translate("mpirun -np 2 p", REFERENCE, lines=True, here=True)


def test_several_launchers_are_named_in_one_option_or_in_several() -> None:
    place = ["place", "--place", "2x1", "--on", "core:4 pu:1"]
    several = CliRunner().invoke(application(), [*place, "--for", "mpich,openmpi", "--for", "taskset"])
    one_by_one = CliRunner().invoke(
        application(), [*place, *(word for name in ("mpich", "openmpi", "taskset") for word in ("--for", name))]
    )
    assert several.exit_code == 0
    assert [line.partition(":")[0] for line in several.stdout.splitlines() if line and line[0] != " "] == [
        "mpich", "openmpi", "taskset",
    ]  # fmt: skip
    assert several.stdout == one_by_one.stdout
    wrong = CliRunner().invoke(application(), [*place, "--for", "mpich,openmpy"])
    assert "cannot write options for 'openmpy' (no such launcher); did you mean openmp or openmpi" in str(
        wrong.exception
    )


def test_lines_of_a_script_that_are_not_read_are_listed() -> None:
    reading = read("module load x\nexport OMP_NUM_THREADS=2\ncd /tmp && taskset -c 0-3 ./p in.dat | tee log")
    assert set_text(reading.placement.ranks[0].cpus) == "0-3"
    said = " / ".join(reading.remarks)
    for words in (
        "not interpreted: module load x",
        "not interpreted: cd /tmp",
        "not interpreted: tee log",
        "./p is taken as the program",
    ):
        assert words in said


@pytest.mark.parametrize("name", ["ZZZ_BINDING", "MV2_CPU_MAPPING", "SITE_PIN_POLICY", "OMP_ZZZ", "FOO_AFFINITY"])
def test_an_unknown_variable_whose_name_suggests_placement_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"cannot interpret this line: {name} is n"):
        read(f"{name}=1 taskset -c 0-3 p")


def test_other_unknown_variables_are_listed() -> None:
    remarks = read("SITE_COLOUR=1 OPENBLAS_NUM_THREADS=2 taskset -c 0-3 p").remarks
    assert "not used for the placement: SITE_COLOUR (unknown variable)" in remarks
    assert any("OPENBLAS_NUM_THREADS (it sets the number of threads" in remark for remark in remarks)
