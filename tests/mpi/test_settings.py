"""Settings of the MPI library at a launch: neutral and own names, typos refused, the useless left out and named."""

import dataclasses

import pytest

from octant.failure import Exit, Refusal
from octant.mpi import settings
from octant.mpi.inventory import Inventory, parse_mpivars
from paths import DATA, Octant

MPICH = dataclasses.replace(parse_mpivars((DATA / "mpivars-5.0.2.txt").read_text(), "5.0.2"), device="ch4:ucx ofi")
OPENMPI = Inventory(
    "openmpi",
    "5.0.11",
    {
        "btl_sm_eager_limit": "4096",
        "btl_tcp_eager_limit": "65536",
        "btl_sm_segment_size": "0",
        "coll_tuned_bcast_algorithm": "0",
        "coll_han_priority": "35",
    },
    {"btl_vader_eager_limit": "btl_sm_eager_limit"},
)


@pytest.mark.parametrize(
    ("library", "words", "variables"),
    [
        (
            MPICH,
            ["MPIR_CVAR_CH4_NETMOD=ofi", "eager-limit=64KiB"],
            {
                "MPIR_CVAR_CH4_NETMOD": "ofi",
                "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE": "65616",
                "MPIR_CVAR_CH4_PACK_BUFFER_SIZE": "65616",
                "MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD": "65537",
                "MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD": "65536",
            },
        ),
        (
            OPENMPI,
            ["eager limit=8KiB"],
            {
                "OMPI_MCA_btl_sm_eager_limit": "8272",
                "OMPI_MCA_btl_tcp_eager_limit": "8272",
                "OMPI_MCA_btl_sm_segment_size": "16777216",
            },
        ),
        (MPICH, ["shared-memory=1"], {}),
        (MPICH, ["bulk-transfer=yes"], {}),
        (OPENMPI, ["btl_sm_eager_limit=4096"], {"OMPI_MCA_btl_sm_eager_limit": "4096"}),
        (OPENMPI, ["OMPI_MCA_btl_sm_eager_limit=1"], {"OMPI_MCA_btl_sm_eager_limit": "1"}),
        (MPICH, ["UCX_TLS=tcp,self"], {"UCX_TLS": "tcp,self"}),
        (MPICH, [], {}),
    ],
)
def test_names_become_the_librarys_own_variables(
    library: Inventory, words: list[str], variables: dict[str, str]
) -> None:
    found = settings.read(words, library)
    assert found.variables == variables
    assert found.without_effect == ()


@pytest.mark.parametrize(
    ("library", "word", "said"),
    [
        (MPICH, "MPIR_CVAR_CH4_OFI_EAGER_THRESHOLDS=1", "did you mean MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD"),
        (OPENMPI, "btl_sm_eager_limits=1", "did you mean btl_sm_eager_limit"),
        (MPICH, "eager-limits=1", "did you mean eager-limit"),
        (MPICH, "eager-limit=big", "cannot set eager-limit"),
        (MPICH, "UCX_MODULE_DIR=/tmp/evil", "unknown setting 'UCX_MODULE_DIR'"),
        (MPICH, "LD_PRELOAD=evil.so", "unknown setting 'LD_PRELOAD'"),
        (MPICH, "OMP_NUM_THREADS=4", r"cannot set 'OMP_NUM_THREADS': no MPI library reads it"),
        (MPICH, "-O3=1", r"cannot set '-O3': no MPI library reads it; see octant settings -O3"),
        (MPICH, "eager-limit", "not of the form NAME=VALUE"),
    ],
)
def test_a_typo_is_refused_by_name(library: Inventory, word: str, said: str) -> None:
    with pytest.raises(Refusal, match=said) as refusal:
        settings.read([word], library)
    assert refusal.value.code == Exit.WRONG_WORD


def test_a_check_refuses_what_no_library_reads_as_a_run_does() -> None:
    with pytest.raises(Refusal, match="no MPI library reads it"):
        settings.problems(["OMP_NUM_THREADS=4"], MPICH)
    assert settings.problems(["rails=2", "UCX_TLS=tcp"], MPICH) == ()


@pytest.mark.parametrize(
    ("library", "word", "said"),
    [
        (OPENMPI, "MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD=1", "belongs to MPICH"),
        (MPICH, "btl_sm_eager_limit=1", "belongs to Open MPI"),
        (MPICH, "MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE=1", "has no effect"),
        (MPICH, "MPIR_CVAR_POLLS_BEFORE_YIELD=1", "has no effect"),
        (MPICH, "MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD=1", "messages use ucx, not ofi"),
        (OPENMPI, "coll_tuned_bcast_algorithm=1", "has no effect"),
    ],
)
def test_what_has_no_effect_is_said_and_left_out(library: Inventory, word: str, said: str) -> None:
    found = settings.read([word], library)
    assert found.variables == {}
    assert said in " ".join(found.without_effect)


def test_a_name_of_the_path_that_another_setting_chooses_has_an_effect() -> None:
    found = settings.read(["MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD=4096", "transport=ofi"], MPICH, {})
    assert found.variables == {"MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD": "4096", "MPIR_CVAR_CH4_NETMOD": "ofi"}
    assert found.without_effect == ()


@pytest.mark.parametrize("name", ["MPIR_CVAR_CH4_PACK_BUFFER_SIZE", "MPIR_CVAR_NOLOCAL"])
def test_a_value_over_which_the_library_would_end_is_refused(name: str) -> None:
    library = dataclasses.replace(MPICH, kinds={name: "integer"})
    for value in ("64KiB", "abc", "64k"):
        with pytest.raises(Refusal, match=f"cannot set {name}={value}: .*use an integer, yes or no"):
            settings.read([f"{name}={value}"], library)
        with pytest.raises(Refusal, match="in the environment: cannot set"):
            settings.check_environment({name: value}, lambda: library)
    assert settings.read([f"{name}=65536"], library).variables == {name: "65536"}


def test_a_word_that_an_algorithm_does_not_have_is_refused() -> None:
    name = "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM"
    library = dataclasses.replace(MPICH, kinds={name: "integer"}, words={name: ("auto", "nb", "ring")})
    assert settings.read(["collective-algorithm=allreduce:ring"], library).variables[name] == "ring"
    with pytest.raises(Refusal, match="use auto, nb, ring"):
        settings.read(["collective-algorithm=allreduce:rings"], library)
    with pytest.raises(Refusal, match="has no such setting"):
        settings.read(["collective-algorithm=nonsense:ring"], library)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["wait-mode=poll"], "wait-mode=poll is not supported: MPICH 5.0.2 yields between polls; omit it"),
        (["eager-limit=64KiB", "bulk-threshold=64KiB"], "omit one of them"),
        (["MPIR_CVAR_NOLOCAL=0", "shared-memory=no"], "omit one of them"),
        (["eager-limit=1KiB", "eager limit=2KiB"], "eager-limit is set twice"),
    ],
)
def test_what_cannot_be_or_contradicts_itself_is_refused(words: list[str], said: str) -> None:
    with pytest.raises(Refusal, match=said):
        settings.read(words, MPICH, {})


def test_a_device_that_is_not_here_is_refused() -> None:
    assert settings.read(["adapters=mlx5_0:1,ib0"], MPICH, {}, ["ib0", "mlx5_0"]).variables == {
        "UCX_NET_DEVICES": "mlx5_0:1,ib0"
    }
    with pytest.raises(Refusal, match=r"no network device eth9; use eth0, lo"):
        settings.read(["adapters=eth9"], MPICH, {}, ["eth0", "lo"])


def test_the_path_in_use_decides_which_variables_count() -> None:
    for environment, words, path in (
        ({}, [], "ucx"),
        ({"MPIR_CVAR_CH4_NETMOD": "ofi"}, [], "ofi"),
        ({}, ["transport=ofi"], "ofi"),
        ({"MPIR_CVAR_CH4_NETMOD": "ofi"}, ["transport=ucx"], "ucx"),
    ):
        found = settings.read([*words, "bulk-threshold=64KiB"], MPICH, environment).variables
        assert ("UCX_RNDV_THRESH" in found) == (path == "ucx"), (environment, words)
    assert settings.library_of(OPENMPI, {}, infiniband=True).path == "ucx"
    assert settings.library_of(OPENMPI, {"OMPI_MCA_pml": "ob1"}, infiniband=True).path == "ob1"


def test_every_tuned_algorithm_that_han_outranks_is_left_out() -> None:
    library = Inventory("openmpi", "5.0.11", {**OPENMPI.values, "coll_tuned_allreduce_algorithm": "0", "coll": ""})
    words = ["coll_tuned_bcast_algorithm=1", "coll_tuned_allreduce_algorithm=3"]
    assert settings.read(words, library).variables == {}
    rules = Inventory("openmpi", "5", {**library.values, "coll_tuned_use_dynamic_rules": "true"})
    for coll, kept in (("^han", 3), ("tuned,basic", 3), ("han,tuned", 1), ("^basic", 1)):
        assert len(settings.read([*words, f"coll={coll}"], rules).variables) == kept, coll


def test_typos_in_the_environment_are_refused_too() -> None:
    def known() -> Inventory:
        return MPICH

    with pytest.raises(Refusal, match=r"in the environment: .*did you mean MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD"):
        settings.check_environment({"MPIR_CVAR_CH4_OFI_EAGER_THRESHHOLD": "1", "PATH": "/bin"}, known)
    settings.check_environment({"MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD": "1", "OMPI_MCA_x": "1", "http_proxy": ""}, known)
    settings.check_environment({"OMPI_COMM_WORLD_SIZE": "1", "OMPI_MCA_initial_wdir": "/"}, lambda: OPENMPI)

    def none_here() -> Inventory:
        raise ValueError("no MPI library")

    settings.check_environment({"MPIR_CVAR_NOLOCL": "1"}, none_here)


@pytest.mark.mpi
def test_a_typo_in_the_environment_stops_a_run(octant: Octant) -> None:
    done = octant("run", "stream", "seconds=0.1", env={"MPIR_CVAR_NOLOCL": "1"})
    assert done.returncode == 2
    assert "silently ignores it; did you mean MPIR_CVAR_NOLOCAL" in done.stderr


@pytest.mark.mpi
def test_a_typo_is_refused_before_anything_starts(octant: Octant) -> None:
    done = octant("run", "stream", "--mpi", "MPIR_CVAR_CH4_OFI_EAGER_THRESHHOLD=1")
    assert done.returncode == 2
    assert "silently ignores it" in done.stderr
