"""Settings of the MPI library at a launch: neutral and own names, typos refused, the useless left out and named."""

import pytest

from octant.failure import Exit, Refusal
from octant.machine.mpi_inventory import Inventory
from octant.runs import mpi_settings
from paths import Octant

MPICH = Inventory(
    "mpich",
    "5.0.2",
    {
        "MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD": "-1",
        "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE": "8192",
        "MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE": "131072",
    },
)
OPENMPI = Inventory(
    "openmpi",
    "5.0.11",
    {"btl_sm_eager_limit": "4096", "coll_tuned_bcast_algorithm": "0", "coll_han_priority": "35"},
    {"btl_vader_eager_limit": "btl_sm_eager_limit"},
)


@pytest.mark.parametrize(
    ("library", "words", "variables"),
    [
        (
            MPICH,
            ["eager-limit=64KiB"],
            {"MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD": "65536", "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE": "65536"},
        ),
        (OPENMPI, ["eager limit=8KiB"], {"OMPI_MCA_btl_sm_eager_limit": "8192"}),
        (OPENMPI, ["btl_sm_eager_limit=4096"], {"OMPI_MCA_btl_sm_eager_limit": "4096"}),
        (OPENMPI, ["OMPI_MCA_btl_sm_eager_limit=1"], {"OMPI_MCA_btl_sm_eager_limit": "1"}),
        (MPICH, ["UCX_TLS=tcp,self"], {"UCX_TLS": "tcp,self"}),
        (MPICH, [], {}),
    ],
)
def test_names_become_the_librarys_own_variables(
    library: Inventory, words: list[str], variables: dict[str, str]
) -> None:
    found = mpi_settings.read(words, library)
    assert found.variables == variables
    assert found.without_effect == ()


@pytest.mark.parametrize(
    ("library", "word", "said"),
    [
        (MPICH, "MPIR_CVAR_CH4_OFI_EAGER_THRESHOLDS=1", "did you mean MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD"),
        (OPENMPI, "btl_sm_eager_limits=1", "did you mean btl_sm_eager_limit"),
        (MPICH, "eager-limits=1", "try one of eager-limit"),
        (MPICH, "eager-limit=big", "cannot set eager limit"),
        (MPICH, "eager-limit", "not of the form NAME=VALUE"),
    ],
)
def test_a_typo_is_refused_by_name(library: Inventory, word: str, said: str) -> None:
    with pytest.raises(Refusal, match=said) as refusal:
        mpi_settings.read([word], library)
    assert refusal.value.code == Exit.WRONG_ANSWER


@pytest.mark.parametrize(
    ("library", "word", "said"),
    [
        (OPENMPI, "MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD=1", "belongs to MPICH"),
        (MPICH, "btl_sm_eager_limit=1", "belongs to Open MPI"),
        (MPICH, "MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE=1", "has no effect"),
        (MPICH, "connection-set-up=yes", "has nothing for it"),
        (OPENMPI, "coll_tuned_bcast_algorithm=1", "has no effect"),
    ],
)
def test_what_has_no_effect_is_said_and_left_out(library: Inventory, word: str, said: str) -> None:
    found = mpi_settings.read([word], library)
    assert found.variables == {}
    assert said in " ".join(found.without_effect)


def test_every_tuned_algorithm_that_han_outranks_is_left_out() -> None:
    library = Inventory("openmpi", "5.0.11", {**OPENMPI.values, "coll_tuned_allreduce_algorithm": "0", "coll": ""})
    words = ["coll_tuned_bcast_algorithm=1", "coll_tuned_allreduce_algorithm=3"]
    assert mpi_settings.read(words, library).variables == {}
    rules = Inventory("openmpi", "5", {**library.values, "coll_tuned_use_dynamic_rules": "true"})
    for coll, kept in (("^han", 3), ("tuned,basic", 3), ("han,tuned", 1), ("^basic", 1)):
        assert len(mpi_settings.read([*words, f"coll={coll}"], rules).variables) == kept, coll


def test_typos_in_the_environment_are_refused_too() -> None:
    def known() -> Inventory:
        return MPICH

    with pytest.raises(Refusal, match=r"in the environment: .*did you mean MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD"):
        mpi_settings.check_environment({"MPIR_CVAR_CH4_OFI_EAGER_THRESHHOLD": "1", "PATH": "/bin"}, known)
    mpi_settings.check_environment(
        {"MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD": "1", "OMPI_MCA_x": "1", "http_proxy": ""}, known
    )
    mpi_settings.check_environment({"OMPI_COMM_WORLD_SIZE": "1", "OMPI_MCA_initial_wdir": "/"}, lambda: OPENMPI)

    def none_here() -> Inventory:
        raise ValueError("no MPI library")

    mpi_settings.check_environment({"MPIR_CVAR_NOLOCL": "1"}, none_here)


@pytest.mark.mpi
def test_a_typo_in_the_environment_stops_a_run(octant: Octant) -> None:
    done = octant("run", "stream", "seconds=0.1", env={"MPIR_CVAR_NOLOCL": "1"})
    assert done.returncode == 2
    assert "would silently ignore it; did you mean MPIR_CVAR_NOLOCAL" in done.stderr


@pytest.mark.mpi
def test_a_typo_is_refused_before_anything_starts(octant: Octant) -> None:
    done = octant("run", "stream", "--mpi", "MPIR_CVAR_CH4_OFI_EAGER_THRESHHOLD=1")
    assert done.returncode == 2
    assert "would silently ignore it" in done.stderr
