"""Every rule of the doctor fires on what it is about, with its evidence, and is silent on a healthy machine."""

from collections.abc import Callable
from dataclasses import replace

import pytest

import trees
from octant.advice import SEVERITIES, Facts, all_rules, diagnose, page
from octant.failure import Refusal
from octant.machine import Disagreement, PageSize
from octant.software.surroundings import CoreTrial, OpenBlas, OtherProcess, Surroundings
from octant.software.trials import BINDING, FIXED_ADDRESSES, LARGE_STACK
from paths import ROOT


def healthy() -> Facts:
    """A server that is set up for measuring: nothing to say about it."""
    machine = trees.machine("epyc-2s-nps4")
    system = machine.system | {
        "governor": "performance",
        "turbo": "off",
        "thp": "madvise",
        "numa_balancing": "0",
        "smt": "off",
        "aslr": "0",
        "pmu": "yes",
        "perf_event_paranoid": "1",
        "clock_source": "tsc",
        "clock_sources": "tsc hpet",
        "limit_memlock_bytes": "unlimited",
        "limit_stack_bytes": "unlimited",
        "steal_fraction": "0",
        "swap_used_bytes": "0",
        "virtualisation": "none",
    }
    pages = (PageSize(4096), PageSize(2**21, 512, 512), PageSize(2**30, 0, 0))
    machine = replace(machine, system=system, page_sizes=pages, software={"mpich": "5.0.2", "blas": "tuned (/x)"})
    quiet = Surroundings(
        environment={"OMP_NUM_THREADS": "16", "OMP_PROC_BIND": "close", "OMP_PLACES": "cores"},
        busy=(OtherProcess(1, "systemd", 0.03),),
        realtime=(OtherProcess(2, "watchdogd", 0.0, "fifo"),),
        openmp_libraries=("/env/lib/libgomp.so.1", "/env/lib/other/libgomp-a34b3233.so.1.0.0"),
    )
    return Facts(machine, quiet)


def settings(**system: str) -> Facts:
    facts = healthy()
    return replace(facts, machine=replace(facts.machine, system=facts.machine.system | system))


def variables(**environment: str) -> Facts:
    facts = healthy()
    return replace(facts, surroundings=replace(facts.surroundings, environment=environment))


def in_use(*busy: OtherProcess, realtime: tuple[OtherProcess, ...] = (), libraries: tuple[str, ...] = ()) -> Facts:
    facts = healthy()
    around = replace(facts.surroundings, busy=busy, realtime=realtime, openmp_libraries=libraries)
    return replace(facts, surroundings=around)


def with_machine(name: str) -> Facts:
    """The topology and the contradictions of another machine, settings and surroundings of the healthy one."""
    facts, other = healthy(), trees.machine(name)
    machine = replace(facts.machine, topology=other.topology, disagreements=other.disagreements)
    return replace(facts, machine=machine)


def with_pages(*pages: PageSize) -> Facts:
    facts = healthy()
    return replace(facts, machine=replace(facts.machine, page_sizes=pages))


def with_software(**software: str) -> Facts:
    facts = healthy()
    return replace(facts, machine=replace(facts.machine, software=software))


def disagreeing(subject: str) -> Facts:
    facts = healthy()
    entry = Disagreement(subject, (("one", "1"), ("two", "2")), "one: because")
    return replace(facts, machine=replace(facts.machine, disagreements=(entry,)))


def loaded(core: str, *trials: CoreTrial, facts: Facts | None = None, **environment: str) -> Facts:
    """An OpenBLAS that uses the kernels of `core`, with what the doctor tried."""
    facts = facts or healthy()
    around = facts.surroundings
    library = OpenBlas("/x/libopenblas.so", "0.3.30", core, trials)
    variables = {**around.environment, **environment}
    return replace(facts, surroundings=replace(around, openblas=library, environment=variables))


IGNORED = CoreTrial("SapphireRapids", "SkylakeX")
BIND = {"OMP_PROC_BIND": "close"}
CASES: list[tuple[str, Callable[[], Facts], str, str]] = [  # rule, facts, severity, a word of title, evidence or fix
    ("governor", lambda: settings(governor="powersave"), "slows", "fixed at its minimum"),  # acpi-cpufreq
    ("governor", lambda: settings(governor="performance schedutil"), "spoils", "schedutil"),
    ("governor", lambda: settings(governor="powersave", frequency_driver="intel_pstate"), "spoils", "follows the load"),
    ("turbo", lambda: settings(turbo="on"), "note", "cpufreq/boost"),
    ("turbo", lambda: settings(turbo="on", frequency_driver="intel_pstate"), "note", "no_turbo"),
    ("transparent_pages", lambda: settings(thp="always"), "note", "always"),
    ("transparent_pages", lambda: settings(thp="never"), "slows", "echo madvise"),
    ("numa_balancing", lambda: settings(numa_balancing="1"), "spoils", "8 memory nodes"),
    ("smt", lambda: with_machine("xeon-2s-smt2-snc4"), "note", "0,104, 1 of 104 cores"),
    ("limit_memlock", lambda: settings(limit_memlock_bytes="8388608"), "note", "8 MiB"),
    ("limit_stack", lambda: settings(limit_stack_bytes="8388608"), "note", "ulimit -s unlimited"),
    ("foreign_load", lambda: in_use(OtherProcess(77, "hog", 0.98)), "spoils", "/proc/77/stat (hog)"),
    ("realtime", lambda: in_use(realtime=(OtherProcess(78, "spin", 0.9, "fifo"),)), "spoils", "policy fifo"),
    ("cpu_quota", lambda: settings(cgroup_cpu_quota="2.5"), "spoils", "to 2.5 of"),
    ("slow_blas", lambda: with_software(mpich="5", blas="reference (/lib/libblas.so.3)"), "slows", "/lib/libblas.so.3"),
    ("binding", lambda: variables(OMP_NUM_THREADS="8"), "slows", "start 8 threads"),
    ("binding", variables, "slows", "start 128 threads"),
    ("binding_twice", lambda: variables(**BIND, GOMP_CPU_AFFINITY="0-3"), "slows", "unset GOMP_CPU_AFFINITY"),
    ("binding_twice", lambda: variables(KMP_AFFINITY="compact", GOMP_CPU_AFFINITY="0"), "slows", "compact"),
    ("openmp_values", lambda: variables(OMP_PROC_BIND="cores"), "slows", "OMP_PROC_BIND"),
    ("openmp_values", lambda: variables(**BIND, OMP_PLACES="core"), "slows", "OMP_PLACES"),
    ("openmp_values", lambda: variables(**BIND, OMP_NUM_THREADS="0"), "slows", "above 0"),
    ("openmp_runtimes", lambda: in_use(libraries=("/a/libgomp.so.1", "/b/libiomp5.so")), "slows", "/b/libiomp5.so"),
    ("threads_exceed", lambda: variables(**BIND, OMP_NUM_THREADS="256"), "slows", "=128"),
    ("swap", lambda: settings(swap_used_bytes=str(2**30)), "spoils", "1 GiB"),
    ("counters", lambda: settings(pmu="no", virtualisation="kvm"), "note", "-cpu host,pmu=on"),
    ("counters", lambda: settings(pmu="no"), "note", "dmesg"),
    ("counters", lambda: settings(perf_event_paranoid="4"), "note", "perf_event_paranoid"),
    ("masked_model", lambda: with_machine("kvm-xeon-2cpu"), "note", "Rocket Lake"),
    (
        "masked_model",
        lambda: loaded("SkylakeX", IGNORED, facts=with_machine("kvm-xeon-2cpu")),
        "note",
        "no kernels for",
    ),
    (
        "openblas_core",
        lambda: loaded("Nehalem", CoreTrial("SkylakeX", "SkylakeX", 3.2)),
        "slows",
        "export OPENBLAS_CORETYPE=SkylakeX  # verified here",
    ),
    (
        "openblas_core",
        lambda: loaded("Haswell", CoreTrial("", "SkylakeX", 1.4), OPENBLAS_CORETYPE="Haswell"),
        "slows",
        "unset OPENBLAS_CORETYPE",
    ),
    (
        "openblas_core",
        lambda: loaded("SkylakeX", CoreTrial("", "SkylakeX"), IGNORED, OPENBLAS_CORETYPE="SapphireRapids"),
        "note",
        "OpenBLAS ignores OPENBLAS_CORETYPE=SapphireRapids",
    ),
    ("huge_pages", lambda: with_pages(PageSize(4096), PageSize(2**21, 0, 0)), "note", "echo 512"),
    ("huge_pages", lambda: with_pages(*(PageSize(2**n, 0, 0) for n in (16, 21, 25))), "note", "hugepages-2048kB"),
    ("clock_source", lambda: settings(clock_source="hpet"), "spoils", "echo tsc"),
    ("clock_source", lambda: settings(clock_source="acpi_pm", clock_sources="acpi_pm"), "spoils", "tsc=reliable"),
    ("clock_source", lambda: settings(clock_source="kvm-clock"), "note", "kvm-clock"),
    ("aslr", lambda: settings(aslr="2"), "note", "setarch"),
    ("slurm_step", lambda: variables(**BIND, SLURM_JOB_ID="7", SLURM_CPUS_PER_TASK="8"), "slows", "instead of 8"),
    ("no_mpi", lambda: with_software(python="3.11.7"), "slows", "pip install mpich"),
    ("steal", lambda: settings(steal_fraction="0.02"), "spoils", "2.0 %"),
    ("affinity", lambda: with_machine("container-4of32"), "note", "4-5,20-21"),
    ("contradictions", lambda: disagreeing("clock"), "note", "uses one"),
]
SILENT: list[tuple[str, Callable[[], Facts]]] = [
    ("governor", lambda: settings(governor="")),
    ("governor", lambda: settings(governor="performance userspace")),
    (
        "counters",
        lambda: replace(healthy(), machine=trees.machine("power9-2s-smt4")),
    ),  # not reported does not mean: none
    ("numa_balancing", lambda: replace(with_machine("laptop-6p8e"), surroundings=Surroundings())),
    ("cpu_quota", lambda: settings(cgroup_cpu_quota="128")),
    ("binding", lambda: variables(OMP_NUM_THREADS="1")),
    ("binding", lambda: variables(KMP_AFFINITY="compact")),
    ("openmp_values", lambda: variables(OMP_PLACES="{0,1},{2:2}:3:4", OMP_PROC_BIND="spread, close")),
    ("openmp_values", lambda: variables(OMP_SCHEDULE="nonmonotonic:dynamic,4", OMP_PLACES="cores(8)")),
    ("slurm_step", lambda: variables(SLURM_JOB_ID="7", SLURM_CPUS_PER_TASK="8", SRUN_CPUS_PER_TASK="8")),
    ("slurm_step", lambda: variables(SLURM_JOB_ID="7", SLURM_CPUS_PER_TASK="8", SLURM_STEP_ID="0")),
    ("contradictions", lambda: disagreeing("processor model")),
    ("openblas_core", lambda: loaded("SkylakeX", IGNORED, CoreTrial("SkylakeX", "SkylakeX"))),
    ("openblas_core", lambda: loaded("Nehalem", CoreTrial("SkylakeX", "SkylakeX", 1.02))),
    ("openblas_core", lambda: loaded("Haswell", CoreTrial("", "SkylakeX", 0.9), OPENBLAS_CORETYPE="Haswell")),
]


def test_a_healthy_machine_gets_no_advice() -> None:
    assert not diagnose(healthy()).advice


@pytest.mark.parametrize(("rule", "facts", "severity", "word"), CASES, ids=[f"{c[0]}-{c[3]}" for c in CASES])
def test_a_rule_fires_on_what_it_is_about(rule: str, facts: Callable[[], Facts], severity: str, word: str) -> None:
    found = [advice for advice in diagnose(facts()).advice if advice.rule == rule]
    assert [advice.severity for advice in found] == [severity]
    advice = found[0]
    text = "\n".join([advice.title, advice.why, *(f"{k} {v}" for k, v in advice.evidence.items()), *advice.fix])
    assert word in text
    assert advice.evidence
    assert advice.fix
    assert advice.why


@pytest.mark.parametrize(("rule", "facts"), SILENT)
def test_a_rule_is_silent_about_what_is_right(rule: str, facts: Callable[[], Facts]) -> None:
    assert rule not in {advice.rule for advice in diagnose(facts()).advice}


def fixes(facts: Facts) -> str:
    return "\n".join(line for advice in diagnose(facts).advice for line in advice.fix)


def test_a_library_that_ignores_a_core_gets_no_setting_for_it() -> None:
    masked = with_machine("kvm-xeon-2cpu")
    assert "OPENBLAS_CORETYPE" not in fixes(masked)
    assert "OPENBLAS_CORETYPE" not in fixes(loaded("SkylakeX", IGNORED, facts=masked))


@pytest.mark.parametrize(
    ("command", "facts"),
    [
        (BINDING, lambda: variables(OMP_NUM_THREADS="8")),
        (BINDING, lambda: variables(**BIND, GOMP_CPU_AFFINITY="0-3")),
        (BINDING, lambda: with_machine("xeon-2s-smt2-snc4")),
        (FIXED_ADDRESSES, lambda: settings(aslr="2")),
        (LARGE_STACK, lambda: settings(limit_stack_bytes="8388608")),
    ],
)
def test_a_command_says_whether_it_was_tried_and_one_without_effect_is_not_given(
    command: str, facts: Callable[[], Facts]
) -> None:
    def after(**outcome: str) -> list[str]:
        found = facts()
        tried = {command: outcome["reason"]} if outcome else {}
        lines = fixes(replace(found, surroundings=replace(found.surroundings, tried=tried))).splitlines()
        return [line for line in lines if command in line]

    assert [line.endswith("  # not verified here") for line in after()] == [True]
    assert [line.endswith("  # verified here") for line in after(reason="")] == [True]
    refused = after(reason="Operation not permitted")
    assert [line.startswith("# ") and line.endswith("no effect here: Operation not permitted") for line in refused] == [
        True
    ]


def test_every_rule_has_a_case_and_a_page() -> None:
    assert set(all_rules()) == {case[0] for case in CASES}
    for name in all_rules():
        title, blank, *body = page(name).splitlines()
        assert title.endswith(".")
        assert not blank
        assert body
    with pytest.raises(Refusal, match="try one of affinity"):
        page("nonsense")


def test_the_worst_comes_first() -> None:
    severities = [advice.severity for advice in diagnose(settings(thp="never", governor="ondemand", aslr="2")).advice]
    assert severities == sorted(severities, key=SEVERITIES.index) == ["spoils", "slows", "note"]


def test_the_documentation_lists_every_rule() -> None:
    text = (ROOT / "docs" / "doctor.md").read_text(encoding="utf-8")
    assert [line.split("`")[1] for line in text.splitlines() if line.startswith("| `")] == list(all_rules())
