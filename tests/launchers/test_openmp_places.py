"""OMP_PLACES and GOMP_CPU_AFFINITY mean what GNU's runtime said of them (`record_gomp.py`)."""

import json
import re

import pytest

from launcher_syntax import REFERENCE, read
from octant.launchers import _openmp
from octant.machine.hwloc import read_synthetic
from octant.placement import set_text
from paths import DATA

ROWS = json.loads((DATA / "gomp-places.json").read_text())["rows"]


@pytest.mark.parametrize("cpus", [16, 48])
def test_places_are_those_of_the_runtime(cpus: int) -> None:
    topology = read_synthetic(f"core:{cpus} pu:1")
    seen = 0
    for row in ROWS:
        if (row["cpus"], row.get("variable")) != (cpus, "OMP_PLACES"):
            continue
        seen += 1
        if row["places"] is None:
            with pytest.raises(ValueError, match="OMP_PLACES"):
                _openmp.parse_places(row["value"], topology)
        else:
            found = _openmp.parse_places(row["value"], topology)
            assert [sorted(place) for place in found] == row["places"], row
    assert seen > 80


def test_lists_of_numbers_are_those_of_the_runtime() -> None:
    topology = read_synthetic("core:16 pu:1")
    for row in ROWS:
        if (row["cpus"], row.get("variable")) != (16, "GOMP_CPU_AFFINITY"):
            continue
        count = len(row["places"] or [1])
        line = f"OMP_NUM_THREADS={count} GOMP_CPU_AFFINITY='{row['value']}' ./a.out"
        if row["places"] is None:
            with pytest.raises(ValueError, match=r"cannot read .*GOMP_CPU_AFFINITY.*; use "):
                read(line, topology)
        else:
            (rank,) = read(line, topology).placement.ranks
            assert [sorted(held) for held in rank.threads] == row["places"], row


def test_threads_are_where_the_runtime_puts_them() -> None:
    topology = read_synthetic("core:16 pu:1")
    rows = [row for row in ROWS if "threads" in row]
    for row in rows:
        line = " ".join(f"{name}='{value}'" for name, value in row["variables"].items())
        (rank,) = read(f"{line} ./a.out", topology).placement.ranks
        assert [set_text(held) for held in rank.threads] == row["threads"], row
    assert len(rows) > 100


def test_kmp_hw_subset_leaves_a_part_of_the_machine() -> None:
    for subset, expected in (("1s,2c,1t", ["0", "2"]), ("1s@1,1n,1c@3", ["22", "23"]), ("1n@1,1c", None), ("2c", None),
                             ("1s,2n@0,1c,2t", ["0", "1", "8", "9"]), ("2s,1c,1t", ["0", "16"])):  # fmt: skip
        reading = read(f"KMP_HW_SUBSET={subset} KMP_AFFINITY=granularity=fine,compact ./p")
        found = [set_text(held) for held in reading.placement.ranks[0].threads]
        assert found == expected or (expected is None and len(found) == {"1n@1,1c": 4, "2c": 8}[subset]), subset
    for subset in ("1z", "9s", "0c", "2c:eff1", "1s,", "*c"):
        with pytest.raises(ValueError, match="KMP_HW_SUBSET"):
            read(f"KMP_HW_SUBSET={subset} KMP_AFFINITY=compact ./p")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("numactl -C '!0-3' p", "4-31"),
        ("numactl -C '!0-3,8' p", "4-7,9-31"),
        ("numactl -C +0-1,4 p", "0-1,4"),
        ("numactl -C '!+0-1' p", "2-31"),
        ("numactl --physcpubind=all p", "0-31"),
        ("numactl -N '!0' p", "8-31"),
        ("numactl -N +1 p", "8-15"),
        ("numactl -N 0 -C 9 p", "9"),
        ("numactl -C 9 -N 0 p", "0-7"),
        ("taskset -c 0-14:2,31 p", "0,2,4,6,8,10,12,14,31"),
        ("taskset --cpu 3 p", "3"),
        ("taskset ff,0000000f p", "0-3,32-39"),
    ],
)
def test_lists_of_tools_are_read_as_their_manuals_say(line: str, expected: str) -> None:
    topology = read_synthetic("core:64 pu:1") if "ff," in line else REFERENCE
    assert [set_text(place.cpus) for place in read(line, topology).placement.ranks] == [expected]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("numactl -C 0-14:2 p", "cannot read '0-14:2' as a list of numactl"),
        ("numactl -C '!0-31' p", "the result is empty"),
        ("numactl -C +99 p", "only 32 are available to this job"),
        ("numactl -w 0,1 p", "-w is not supported (it distributes pages by weights)"),
        ("numactl -H", "it prints information"),
        ("hwloc-bind --physical pu:0 -- p", "--physical is not supported"),
        ("likwid-pin -s 0x1 -c 0-3 p", "-s is not supported"),
        ("KMP_AFFINITY=granularity=core,compat ./p", "cannot read 'compat' in KMP_AFFINITY"),
        ("KMP_AFFINITY=granularity=tile,compact ./p", "cannot read 'granularity=tile' in KMP_AFFINITY"),
        ("KMP_AFFINITY=compact,scatter ./p", "cannot read 'scatter' in KMP_AFFINITY"),
        ("XLSMPOPTS=startproc=0:zzz=3 ./p", "cannot read 'zzz=3' in XLSMPOPTS"),
        ("XLSMPOPTS=procs=0-6:2 ./p", "cannot read '2' in XLSMPOPTS"),
        ("hwloc-bind os=eth0 p", "os=eth0 is not a supported location"),
        ("OMP_NUM_THREADS=many OMP_PLACES=cores p", "cannot read OMP_NUM_THREADS many"),
        ("srun -n 2 -c $CPUS p", "it needs a shell to expand"),
        ("OMP_NUM_THREADS=$N taskset -c 0-3 p", "it needs a shell to expand"),
        ("$RUN taskset -c 0-3 p", "it needs a shell to expand"),
        ("numactl -C 0-3 taskset -c 9 p", "cannot interpret taskset after another launcher"),
        ("taskset -c 0-3 srun -n 1 --cpu-bind=none p", "cannot interpret taskset in front of a launcher"),
    ],
)
def test_forms_that_are_not_read_are_refused_by_name(line: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        read(line)


def test_env_takes_variables_away() -> None:
    assert "OMP_PLACES" not in str(
        read("export OMP_PLACES=threads OMP_NUM_THREADS=2\nenv -u OMP_PLACES taskset -c 0-3 p")
    )
    (rank,) = read(
        "export OMP_PLACES=threads OMP_NUM_THREADS=3\nenv -i OMP_NUM_THREADS=2 taskset -c 0-3 p"
    ).placement.ranks
    assert len(rank.threads) == 2


def test_keywords_and_redirections_of_a_shell_are_no_words_of_a_command() -> None:
    reading = read("for i in 1 2; do exec taskset -c 0-1 ./p > log 2>&1 < in & done")
    assert set_text(reading.placement.ranks[0].cpus) == "0-1"
    assert [remark for remark in reading.remarks if "not interpreted" in remark] == [
        "not interpreted: for i in 1 2", "not interpreted: done",
    ]  # fmt: skip
