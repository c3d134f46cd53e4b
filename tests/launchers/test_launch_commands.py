"""Command lines of every launcher: what the launchers themselves started, wrappers, hidden launchers, random words."""

import argparse
import json
import random
import re
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octant import launchers
from octant.failure import Refusal
from octant.launchers import (
    LaunchCommand,
    _wrappers,
    command_names,
    cray,
    flux,
    hidden_launcher,
    intelmpi,
    launchers_with_role,
    lsf,
    openmpi,
    openmpi41,
    recognise,
    slurm,
)
from paths import DATA, ROOT

RECORDS = json.loads((DATA / "launch-commands.json").read_text())


@pytest.mark.parametrize("name", RECORDS)
def test_what_a_launcher_started_is_what_is_recognised(name: str) -> None:
    """Recorded by `record_launch_commands.py`; a mask that is smaller than the machine proves binding."""
    module, all_cpus = launchers_with_role("recognise")[name], RECORDS[name]["cpus"]
    for row in RECORDS[name]["rows"]:
        words = [module.COMMANDS[0], *row["words"]]
        if row["started"] is None:
            with pytest.raises(ValueError, match=r"is an unknown option|cannot read -n"):
                module.recognise(words, {})
            continue
        found: LaunchCommand = module.recognise(words, {})
        assert (words[found.program], words[found.program + 1 :]) == ("/show", row["started"]), row
        assert found.options == tuple(words[1 : found.program])
        assert found.ranks in (None, row["ranks"]), row
        if name != "slurm" and row["cpus"] not in (all_cpus, all_cpus.replace(",", "-")):
            assert (found.binds, found.bound_by != "") == (True, True), row


@pytest.mark.parametrize(
    ("module", "line", "ranks", "binds", "bound_by"),
    [
        (openmpi, "mpiexec app", None, True, "by default"),
        (openmpi, "mpiexec --bind-to none:overload-allowed -np 3 app", 3, False, ""),
        (openmpi, "mpiexec --bindto=NONE -n 3 app", 3, False, ""),
        (openmpi, "mpiexec --bind-to core --map-by :OVERSUBSCRIBE app", None, True, "--bind-to"),
        (openmpi, "mpiexec --map-by slot:pe=1:oversub app", None, False, ""),
        (openmpi, "mpiexec -oversubscribe app", None, False, ""),
        (openmpi, "mpiexec --map-by pe-list=1,0:ordered:oversubscribe app", None, True, "--map-by"),
        (openmpi, "mpiexec --oversubscribe --mapby=pe-list=1 app", None, True, "--mapby"),
        (openmpi, "mpiexec --map-by ppr:2:node:PE=1 app", None, True, "--map-by"),
        (openmpi, "mpiexec --bind-to none --map-by pe-list=1,0 app", None, False, ""),  # which Open MPI refuses
        (openmpi, "mpiexec --map-by core --bind-to none app", None, False, ""),
        (openmpi, "mpiexec -cpu-list 1 app", None, True, "-cpu-list"),
        (openmpi, "mpiexec -N 4 app", None, True, "by default"),
        (openmpi, "mpiexec --prtemca hwloc_default_binding_policy none -c 2 app", 2, False, ""),
        (openmpi41, "mpiexec app", None, True, "by default"),
        (openmpi41, "mpiexec -bind-to none app", None, False, ""),
        (openmpi41, "mpiexec -mca hwloc_base_binding_policy none -np 4 app", 4, False, ""),
        (
            openmpi41,
            "mpiexec --gmca hwloc_base_binding_policy core app",
            None,
            True,
            "--gmca hwloc_base_binding_policy",
        ),
        (intelmpi, "mpiexec -n 2 app", 2, True, "by default"),
        (intelmpi, "mpiexec -genv I_MPI_PIN=off app", None, False, ""),
        (intelmpi, "mpiexec -genv I_MPI_PIN_DOMAIN core -env I_MPI_PIN 1 app", None, True, "I_MPI_PIN_DOMAIN"),
        (slurm, "srun app", None, None, ""),
        (slurm, "srun -N2 --ntasks-per-node=4 app", 8, None, ""),
        (slurm, "srun -N1-2 --ntasks-per-node=4 app", None, None, ""),
        (slurm, "srun -lvn4 --cpu-bind=verbose,none app", 4, False, ""),
        (slurm, "srun --cpu_bind=cores -K -I30 app", None, True, "--cpu_bind"),
        (flux, "flux run -n4 app", 4, None, ""),
        (flux, "flux mini run -n=4 -o cpu-affinity=per-task app", 4, True, "--setopt=cpu-affinity"),
        (flux, "flux run -N2 --tasks-per-node=3 -ocpu-affinity=off --setopt=mpibind=off app", 6, False, ""),
        (lsf, "jsrun -n4 -a2 -c 7 -bpacked:7 app", 8, True, "--bind"),
        (lsf, "jsrun --nrs ALL_HOSTS -a2 app", None, True, "by default"),
        (lsf, "jsrun --np=6 --bind none app", 6, False, ""),
        (cray, "aprun -n 8 -N 4 -cc none -ss app", 8, False, ""),
        (cray, "/opt/aprun -n 8 -d 4 app", 8, True, "by default"),
        (cray, "aprun -n8 -d4 app", 8, True, "by default"),
        (cray, "mpiexec -n 8 --ppn 4 -d 2 --cpu-bind list:0:1 app", 8, True, "--cpu-bind"),
        (cray, "mpiexec --np=8 --hosts a,b app", 8, None, ""),
    ],
)
def test_ranks_and_binding_are_what_the_words_state(
    module: ModuleType, line: str, ranks: int | None, binds: bool | None, bound_by: str
) -> None:
    words = [*line.split(), "-n", "3"]
    at = len(words) - 3
    assert module.recognise(words, {}) == LaunchCommand(ranks, tuple(words[1:at]), at, binds, bound_by)


@pytest.mark.parametrize(
    ("module", "variable", "ranks", "binds", "bound_by"),
    [
        (openmpi, "PRTE_MCA_hwloc_default_binding_policy=none", None, False, ""),
        (openmpi, "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe", None, False, ""),
        (openmpi, "OMPI_MCA_hwloc_base_binding_policy=none", None, True, "by default"),
        (openmpi41, "OMPI_MCA_hwloc_base_binding_policy=none", None, False, ""),
        (openmpi41, "OMPI_MCA_hwloc_base_binding_policy=core", None, True, "OMPI_MCA_hwloc_base_binding_policy"),
        (intelmpi, "I_MPI_PIN=disable", None, False, ""),
        (slurm, "SLURM_NTASKS=6", 6, None, ""),
        (slurm, "SLURM_CPU_BIND=quiet,cores", None, True, "SLURM_CPU_BIND"),
    ],
)
def test_variables_count_where_words_state_nothing(
    module: ModuleType, variable: str, ranks: int | None, binds: bool, bound_by: str
) -> None:
    environment = dict([variable.split("=", 1)])
    found = module.recognise([module.COMMANDS[0], "app"], environment)
    assert (found.ranks, found.binds, found.bound_by) == (ranks, binds, bound_by)


@pytest.mark.parametrize(
    ("module", "line", "why"),
    [
        (openmpi, "mpiexec -n 2", "no program given"),
        (openmpi, "mpiexec -n", "-n has no value"),
        (openmpi, "mpiexec --mca btl", "--mca has no value"),
        (openmpi, "mpiexec -n 1 a : -n 2 b", "several programs"),
        (openmpi, "mpiexec --app file", "the programs are in a file"),
        (openmpi, "mpiexec --version", "it prints information"),
        (openmpi, "mpiexec --rtos donotlaunch app", "it starts no program"),
        (openmpi, "mpiexec -n x app", "cannot read -n x"),
        (openmpi, "prterun --omca btl self app", "--omca is an unknown option"),
        (openmpi41, "mpiexec -mca btl", "-mca has no value"),
        (openmpi41, "mpiexec -do-not-launch app", "it starts no program"),
        (intelmpi, "mpiexec -genv A", "-genv has no value"),
        (intelmpi, "mpiexec -configfile f", "the programs are in a file"),
        (slurm, "srun --multi-prog file", "the programs are in a file"),
        (slurm, "srun -n1 a : -n2 b", "several programs"),
        (slurm, "srun --het-group=0,1 a", "several programs"),
        (slurm, "srun -n", "-n has no value"),
        (slurm, "srun -V", "it prints information"),
        (slurm, "srun -n 2 --", "no program given"),
        (flux, "flux submit -n2 app", "flux submit: it returns before"),
        (flux, "flux", "flux: it does not start"),
        (flux, "flux run -n -c 1 app", "-n has no value"),
        (flux, "flux run -- app", "-- is an unknown option"),
        (lsf, "jsrun -X 1 app", "-X is an unknown option"),
        (cray, "aprun -Z8 app", "-Z8 is an unknown option"),
        (cray, "mpiexec --configfile f", "the programs are in a file"),
    ],
)
def test_what_is_not_one_program_is_refused_with_the_reason(module: ModuleType, line: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        module.recognise(line.split(), {})


def test_likwid_mpirun_is_refused() -> None:
    with pytest.raises(Refusal, match="interprets -- in the arguments of the program"):
        recognise(["likwid-mpirun", "-np", "2", "./app"], {})


def test_flux_lines_are_read_as_argparse_reads_them() -> None:
    """The parser of `flux run` is argparse's, with these options and a remainder."""
    parser, chance = argparse.ArgumentParser(allow_abbrev=False, add_help=False), random.Random(3)
    counts = {one.name: one.values for one in flux.OPTIONS.values()}
    letters = {one.name: f"-{name}" for name, one in flux.OPTIONS.items() if len(name) == 1}
    for name, count in counts.items():
        names = [f"--{name}", *([letters[name]] if name in letters else [])]
        parser.add_argument(*names, action="append" if count else "count")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    usable = [name for name in counts if flux.OPTIONS[name].effect != "refused"]
    for _ in range(300):
        words = ["flux", "run"]
        for name in chance.sample(usable, 3):
            short, value = letters.get(name, ""), chance.choice(["4", "a=b", "x y"])
            if name in ("ntasks", "nodes", "tasks-per-node"):
                value = "2"
            forms = [[f"--{name}"], [short or f"--{name}"]]
            if counts[name]:
                forms = [[f"--{name}", value], [f"--{name}={value}"]] + (
                    [[short + value], [short, value]] * bool(short)
                )
            words += chance.choice(forms)
        words += ["app", *chance.sample(["-n", "3", "--env=X", "--"], 2)]
        found = flux.recognise(words, {})
        assert words[found.program :] == parser.parse_args(words[2:]).command, words


@pytest.mark.parametrize("line", [
    "env -i -u B A=b=c srun -n 2 app", "env - A=1 srun -n 2 app",
    "nice -n 5 srun -n 2 app", "nice -5 srun -n 2 app", "nohup srun -n 2 app", "setsid -w srun -n 2 app",
    "stdbuf -oL -e 0 srun -n 2 app", "timeout -k 5 --signal=TERM 60 srun -n 2 app", "/usr/bin/time -v srun -n 2 app",
    "time -f %e srun -n 2 app", "timeout 60 env A=1 nice srun -n 2 app",
])  # fmt: skip
def test_a_launcher_behind_wrappers_is_recognised(line: str) -> None:
    words = line.split()
    at = words.index("srun")
    assert recognise(words, {}) == ("slurm", LaunchCommand(2, ("-n", "2"), at + 3, None, "", at))


def test_env_changes_what_the_launcher_sees() -> None:
    for line, ranks in (("env SLURM_NTASKS=4 srun app", 4), ("env -u SLURM_NTASKS srun app", None),
                        ("env -i srun app", None), ("nice srun app", 2)):  # fmt: skip
        found = recognise(line.split(), {"SLURM_NTASKS": "2"})
        assert found is not None
        assert found[1].ranks == ranks, line


def test_a_wrapper_with_an_unknown_option_in_front_of_a_launcher_is_refused() -> None:
    with pytest.raises(Refusal, match="env: -S is an unknown option"):
        recognise(["env", "-S", "x", "srun", "app"], {})


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("#!/bin/sh\n# mpiexec\nset -e\n  mpirun -n 4 ./app # run\n", "line 4: mpirun"),
        ("#!/bin/bash\nA=1 exec /opt/bin/srun ./app\n", "line 2: srun"),
        ("#!/bin/bash\nRUN='mpiexec -n 4'\n$RUN ./app\n", "line 2: mpiexec"),
        ("#!/bin/bash\nexport RUN=mpiexec\n", "line 2: mpiexec"),
        ("#!/bin/sh\nif true; then numactl -i all mpiexec -n 2 a; fi\n", "line 2: mpiexec"),
        ("#!/bin/sh\necho $(mpiexec -n 1 a)\n", "line 2: mpiexec"),
        ("#!/bin/sh\necho mpiexec; module load srun\ncat mpiexec.log\n", ""),
        ("#!/bin/sh\necho '# not a comment'; flux run x", "line 2: flux"),
        ("#!/usr/bin/env python3\nimport subprocess\nsubprocess.run(['mpirun', '-n', '4'])\n", "line 3: mpirun"),
        ("#!/usr/bin/python3\n'''Use:\nmpirun -n 4 python x.py\n'''\n# mpirun\nx = 'on mpirun'\n", ""),
        ("#!/usr/bin/python3\ngetoutput('cd x && mpirun -n 4')\n", "line 2: mpirun"),
        ("mpirun -n 4 ./app\n", ""),
        ("#!/bin/sh\n\0mpirun\n", ""),
        ("#!/bin/sh\n" + "#" * (1 << 20) + "\nmpirun\n", ""),
        ("#!/usr/bin/python3\nthis is not Python\nmpirun -n 2\n", "line 3: mpirun"),
    ],
)
def test_a_script_that_starts_a_launcher_is_found(text: str, found: str, tmp_path: Path) -> None:
    script = tmp_path / "run"
    script.write_text(text)
    assert hidden_launcher(script) == found


def test_what_is_no_script_hides_no_launcher(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"#!\xff mpirun\nmpirun\n")
    for path in (tmp_path / "binary", tmp_path / "none", tmp_path):
        assert hidden_launcher(path) == ""


UNVERIFIED = "from incomplete documentation, not verified against the launcher"


def test_tables_that_no_launcher_was_compared_with_say_so() -> None:
    text = (ROOT / "docs" / "launching.md").read_text()
    assert re.findall(rf"^\| ([^|]*) \| .* \| {UNVERIFIED} \|$", text, re.MULTILINE) == [
        "IBM JSM", "Cray ALPS", "HPE Cray PALS",
    ]  # fmt: skip
    for module, tables in ((lsf, 1), (cray, 2)):
        assert UNVERIFIED in str(module.recognise.__doc__)
        source = Path(str(module.__file__)).read_text()
        assert source.count(f': {UNVERIFIED}."""') == tables
        assert not re.search(r"PALS \d|CLE \d|S-\d", source), "a version whose documentation was not read"


WORDS = st.one_of(
    st.sampled_from(sorted({
        *(f"{dash}{name}" for one in launchers_with_role("recognise").values()
          for table in ("_COUNTS", "_ARITY", "OPTIONS", "_APRUN") for name in getattr(one, table, {})
          for dash in ("-", "--")),
        *command_names(), *_wrappers.WRAPPERS, "run", "mini", ":", "--", "-", "", "A=b", "4",
    })),
    st.text(max_size=8),
    st.builds("-{}={}".format, st.sampled_from(["n", "-fwd-environment", "-output-proctable", "-nodes"]), st.text()),
)  # fmt: skip


@given(st.sampled_from(sorted(launchers_with_role("recognise"))), st.lists(WORDS, max_size=8))
def test_random_words_are_taken_apart_or_refused(name: str, words: list[str]) -> None:
    module = launchers.launchers_with_role("recognise")[name]
    for command in module.COMMANDS:
        line = [command, *words]
        try:
            found = module.recognise(line, {})
        except ValueError:
            continue
        assert 0 < found.program < len(line)
        assert found.options == tuple(line[1 : found.program])
        assert bool(found.bound_by) == bool(found.binds)


@given(st.lists(st.one_of(st.sampled_from([*_wrappers.WRAPPERS, "srun", "flux", "run"]), WORDS), max_size=8))
def test_random_lines_raise_refusals_only(words: list[str]) -> None:
    try:
        found = recognise(words, {"PATH": "/none"})
    except Refusal:
        return
    if found is not None:
        assert found[1].launcher < found[1].program < len(words)
