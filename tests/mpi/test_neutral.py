"""Neutral MPI settings: values are read and checked, and become what each library, version and path understands."""

import re

import pytest

from octant.mpi import neutral
from octant.mpi.inventory import parse_mpivars, parse_ompi_info
from octant.mpi.neutral import CannotExpressError, Library, VariableValue
from paths import DATA

MPICH = Library("mpich", "5.0.2", "ch4:ucx ofi", "ucx")
MPICH_OFI = Library("mpich", "5.0.2", "ch4:ucx ofi", "ofi")
MPICH4 = Library("mpich", "4.0.2", "ch4:ucx", "ucx")
OPENMPI = Library("openmpi", "5.0.11", path="ob1")
OPENMPI4 = Library("openmpi", "4.1.4", path="ob1")
INTEL = Library("intelmpi", "2021.18")
LIBRARIES = (MPICH, MPICH_OFI, MPICH4, OPENMPI, OPENMPI4, INTEL)
OMPI_INFO = parse_ompi_info((DATA / "ompi_info-5.0.11.txt").read_text())
NAMES = {
    "mpich": parse_mpivars((DATA / "mpivars-5.0.2.txt").read_text(), "5.0.2").values,
    "openmpi": {**OMPI_INFO.values, **OMPI_INFO.aliases},
}


def mapped(library: Library, *words: str) -> dict[str, str]:
    asked: list[tuple[str, dict[str, VariableValue]]] = []
    for word in words:
        name, _, text = word.partition("=")
        setting = neutral.find(name)
        assert setting is not None
        cell = next((neutral.cell_bytes_of(wanted) for _word, wanted in asked), 0)
        asked.append((word, neutral.variables(setting, neutral.read_value(setting, text), library, cell)))
    return neutral.combine(asked)


def test_every_setting_says_something_about_every_library_that_was_launched() -> None:
    for setting in neutral.settings():
        for library in LIBRARIES:
            rows = setting.rows(library)
            known = {word for row in rows for word in (*row.words, *row.cannot_words)}
            whole = any(row.cannot or row.set for row in rows)
            assert whole or (known and known <= set(setting.values)), (setting.name, library.title)


def test_every_variable_is_one_that_the_library_lists() -> None:
    for setting in neutral.settings():
        for library, prefix in ((MPICH, "MPIR_CVAR_"), (MPICH_OFI, "MPIR_CVAR_"), (OPENMPI, "OMPI_MCA_")):
            for name in (name for row in setting.rows(library) for name in row.names() if name.startswith(prefix)):
                plain = re.sub(r"\{\w+\}", lambda t: "ALLREDUCE" if t[0].isupper() else "allreduce", name)
                assert plain.removeprefix("OMPI_MCA_") in NAMES[library.name], name


@pytest.mark.parametrize(
    ("library", "words", "variables"),
    [
        (
            MPICH,
            "eager-limit=64KiB",
            {
                "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE": "65616",
                "MPIR_CVAR_CH4_PACK_BUFFER_SIZE": "65616",
                "MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD": "65537",
                "UCX_RNDV_THRESH": "65537",
            },
        ),
        (
            OPENMPI,
            "eager limit=65536",
            {
                "OMPI_MCA_btl_sm_eager_limit": "65616",
                "OMPI_MCA_btl_tcp_eager_limit": "65616",
                "OMPI_MCA_btl_sm_segment_size": "16777216",
            },
        ),
        (
            OPENMPI4,
            "eager-limit=512KiB",
            {
                "OMPI_MCA_btl_vader_eager_limit": "524344",
                "OMPI_MCA_btl_tcp_eager_limit": "524344",
                "OMPI_MCA_btl_vader_segment_size": "16777216",
            },
        ),
        (MPICH4, "eager-limit=0", {"UCX_RNDV_THRESH": "1"}),
        (MPICH, "shared-memory=1", {}),
        (MPICH, "shared-memory=no", {"MPIR_CVAR_NOLOCAL": "1", "UCX_TLS": "^posix,sysv,cma"}),
        (MPICH4, "shared-memory=0", {"UCX_TLS": "tcp,self"}),
        (OPENMPI, "shared-memory=no", {"OMPI_MCA_btl": "^sm"}),
        (MPICH_OFI, "receive-buffer=16MiB", {
            "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_NUM_CELLS": "2048",
            "MPIR_CVAR_CH4_OFI_MULTIRECV_BUFFER_SIZE": "16777216",
        }),
        (MPICH, "wait-mode=sleep", {"MPIR_CVAR_ENABLE_HEAVY_YIELD": "1"}),
        (OPENMPI, "wait-mode=poll", {"OMPI_MCA_mpi_yield_when_idle": "0"}),
        (MPICH, "bulk-transfer=yes", {}),
        (MPICH, "bulk-transfer=no", {"UCX_RNDV_SCHEME": "am"}),
        (MPICH_OFI, "bulk-transfer=copy", {"MPIR_CVAR_CH4_OFI_RNDV_PROTOCOL": "pipeline"}),
        (INTEL, "connection-set-up=start", {"I_MPI_DYNAMIC_CONNECTION": "0"}),
        (
            MPICH,
            "collective-algorithm=allreduce:ring",
            {
                "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM": "ring",
                "MPIR_CVAR_ALLREDUCE_DEVICE_COLLECTIVE": "0",
                "MPIR_CVAR_DEVICE_COLLECTIVES": "percoll",
            },
        ),
        (MPICH, "adapters=eth0,mlx5_0:1", {"UCX_NET_DEVICES": "eth0,mlx5_0:1"}),
        (MPICH, "rails=2", {"UCX_MAX_RNDV_RAILS": "2"}),
        (MPICH, "single-copy-threshold=never", {"MPIR_CVAR_CH4_CMA_ENABLE": "0"}),
        (Library("openmpi", "5.0.11", path="ob1", infiniband=True), "wait mode=yield", {
            "OMPI_MCA_mpi_yield_when_idle": "1"}),
        (Library("mpich", "5.0.2", "ch4:ucx", "ucx", infiniband=True), "packet-size=2KiB", {
            "UCX_RC_VERBS_PATH_MTU": "2048"}),
    ],
)  # fmt: skip
def test_values_become_what_the_library_reads(library: Library, words: str, variables: dict[str, str]) -> None:
    assert mapped(library, words) == variables


@pytest.mark.parametrize(
    ("library", "words", "why"),
    [
        (MPICH, "wait-mode=poll", "wait-mode=poll is not supported: MPICH 5.0.2 yields between polls; omit it"),
        (OPENMPI, "wait-mode=sleep", "Open MPI 5.0.11 can yield, but not sleep"),
        (INTEL, "eager-limit=64KiB", "I_MPI_SHM_EAGER_THRESHOLD has no effect"),
        (INTEL, "collective-algorithm=allreduce:ring", "Intel MPI 2021.18 selects algorithms by number"),
        (INTEL, "single-copy-threshold=500000", "use never"),
        (MPICH, "eager-limit=128", "256 B to 4 MiB"),
        (MPICH, "max-connections=8", "no InfiniBand adapter"),
        (OPENMPI, "bulk-threshold=64KiB", "accepts 192 KiB to 4 MiB"),
        (MPICH4, "transport=ofi", "its netmod is fixed at build time"),
        (Library("mpich", "4.2.1", "ch4:ofi", "ofi"), "eager-limit=1KiB", "no variable for this setting is known"),
        (Library("mpich", "5.0.2", "ch4:ofi", "ofi"), "transport=ucx", "is not supported"),
    ],
)  # fmt: skip
def test_what_a_library_cannot_do_is_said_with_the_reason(library: Library, words: str, why: str) -> None:
    with pytest.raises(CannotExpressError, match=re.escape(why)):
        mapped(library, words)


@pytest.mark.parametrize(
    ("words", "allowed"),
    [
        ("eager-limit=big", "try 4096, 64KiB"),
        ("eager-limit=64 potatoes", "try 4096, 64KiB"),
        ("eager-limit=1GiB", "0 B to 4 MiB"),
        ("receive-buffer=4KiB", "64 KiB to 64 MiB"),
        ("wait-mode=64KiB", "poll, yield, sleep"),
        ("adapters=eth0;reboot", "device names separated by commas"),
        ("collective-algorithm=ring", "COLLECTIVE:ALGORITHM"),
        ("rails=two", "1 to 64"),
        ("packet-size=3", "256, 512, 1024, 2048, 4096"),
        ("pretended-nodes=²", "1 to 4096"),
    ],
)
def test_a_value_that_cannot_be_read_is_refused_with_what_is_allowed(words: str, allowed: str) -> None:
    with pytest.raises(ValueError, match=re.escape(allowed)):
        mapped(MPICH, words)


def test_settings_that_agree_are_set_together() -> None:
    assert mapped(MPICH, "eager-limit=64KiB", "bulk-threshold=65537") == mapped(MPICH, "eager-limit=64KiB")
    both = mapped(MPICH, "eager-limit=64KiB", "single-copy-threshold=500000")
    assert both["MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD"] == "500000"
    assert (
        mapped(MPICH, "eager-limit=65456", "receive-buffer=16MiB")["MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_NUM_CELLS"] == "256"
    )
    assert mapped(MPICH, "shared-memory=no", "transport=tcp")["UCX_TLS"] == "tcp,self"
    assert mapped(OPENMPI, "shared-memory=no", "transport=tcp")["OMPI_MCA_btl"] == "self,tcp"
    assert mapped(OPENMPI, "eager-limit=1MiB", "receive-buffer=64MiB")["OMPI_MCA_btl_sm_segment_size"] == str(64 << 20)


@pytest.mark.parametrize(
    ("library", "one", "other"),
    [
        (MPICH, "eager-limit=64KiB", "bulk-threshold=64KiB"),
        (MPICH, "eager-limit=64KiB", "single-copy-threshold=1000"),
        (MPICH4, "eager-limit=64KiB", "single-copy-threshold=500000"),
        (OPENMPI, "eager-limit=4MiB", "receive-buffer=16MiB"),
        (OPENMPI, "eager-limit=64KiB", "single-copy-threshold=500000"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(library: Library, one: str, other: str) -> None:
    with pytest.raises(ValueError, match=f"cannot combine {one} and {other}: .*omit one of them"):
        mapped(library, one, other)


def test_a_receive_buffer_smaller_than_one_message_is_refused() -> None:
    with pytest.raises(CannotExpressError, match=r"cells of 1048656 B"):
        mapped(MPICH, "eager-limit=1MiB", "receive-buffer=64KiB")


def test_lists_of_what_is_used_and_left_out_combine() -> None:
    def together(one: str, other: str) -> str:
        return neutral.combine([("a", {"UCX_TLS": VariableValue(one)}), ("b", {"UCX_TLS": VariableValue(other)})])[
            "UCX_TLS"
        ]

    assert together("^posix,sysv", "^sysv,cma") == "^posix,sysv,cma"
    assert together("tcp,sm,self", "^posix,sysv,cma") == "tcp,self"
    with pytest.raises(ValueError, match="omit one of them"):
        together("tcp", "rc")


def test_old_names_are_aliases() -> None:
    for old, new in (
        ("rendezvous threshold", "bulk-threshold"),
        ("shared-memory attach threshold", "single-copy-threshold"),
        ("Wait_Mode", "wait-mode"),
        ("thread support", "thread-level"),
        ("striping/rails", "rails"),
    ):
        found = neutral.find(old)
        assert found is not None
        assert found.name == new
    assert neutral.find("MPIR_CVAR_NOLOCAL") is None


def test_only_variables_of_the_table_are_known() -> None:
    for name in ("UCX_RNDV_THRESH", "MPIR_CVAR_BCAST_INTRA_ALGORITHM", "OMPI_MPI_THREAD_LEVEL", "I_MPI_FABRICS"):
        assert neutral.is_known_variable(name)
    for name in ("LD_PRELOAD", "UCX_MODULE_DIR", "FI_PROVIDER_PATH", "OMPI_MCA_mca_base_component_path"):
        assert not neutral.is_known_variable(name)
