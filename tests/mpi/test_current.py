"""`octant settings NAME`: the setting of that name first, its values and neighbours, and only similar suggestions."""

import contextlib
import functools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octant.catalogue.current_settings import libraries
from octant.catalogue.lookup import edits
from octant.mpi.current import (
    SettingMatch,
    find,
    find_words,
    installed_text,
    join_words,
    purpose,
    suggest,
    value_remarks,
)
from octant.mpi.inventory import Inventory, parse_mpivars
from octant.report.machine import settings as writer
from octant.report.machine.settings import INFERRED, current_json, current_text, words_text
from paths import DATA

MPICH = parse_mpivars((DATA / "mpivars-5.0.2.txt").read_text(), "5.0.2")
NAMES = [(held, one) for held in libraries().values() for one in held.setting]
ASKED = [
    ("I_MPI_PIN_DOMAIN", "Intel MPI"),
    ("I_MPI_EAGER_THRESHOLD", "Intel MPI"),
    ("I_MPI_DAPL_UD", "Intel MPI"),
    ("I_MPI_SHM_LMT", "Intel MPI"),
    ("I_MPI_FABRICS=shm:dapl", "Intel MPI"),
    ("MPICH_GPU_SUPPORT_ENABLED", "Cray MPICH"),
    ("PAMID_EAGER", "MPICH on Blue Gene/Q"),
    ("mpir_cvar_nolocal", "MPICH"),
    ("OMPI_MCA_btl_openib_allow_ib", "Open MPI"),
    ("OMPI_MCA_btl", "Open MPI"),
    ("btl_sm_eager_limit", "Open MPI"),
    ("KMP_AFFINITY", "Intel and LLVM OpenMP"),
    ("FI_CXI_RX_MATCH_MODE", "libfabric"),
    ("MV2_IBA_EAGER_THRESHOLD=64k", "MVAPICH2"),
]


@pytest.mark.parametrize(("word", "library"), ASKED)
def test_a_name_is_answered_about_itself_first(word: str, library: str) -> None:
    head = current_text(word, None, 100).splitlines()[0]
    name = word.partition("=")[0]
    assert name.upper() in head.upper()
    assert head.endswith(f"({library})")


def test_every_name_is_found_in_every_spelling() -> None:
    """As it is, in lower case, and as a variable of the environment."""
    for held, one in NAMES:
        for name in one.names():
            lower = name if len(name) == 2 else name.lower()  # -n and -N are two options
            for spelling in (name, lower, held.environment + name if not name.startswith("-") else name):
                assert any(f.setting is one for f in find(spelling)), (held.title, spelling)


def test_every_page_fits_the_terminal_and_names_its_source() -> None:
    for held, one in NAMES:
        text = current_text(one.name, MPICH, 80)
        assert [line for line in text.splitlines() if len(line) > 80 and " " in line.strip()] == [], one.name
        words = " ".join(text.split())
        assert all(held.sources[name].version in words for name in one.source), one.name
        assert "removed " in words if one.gone() else "how to set it" in text, one.name


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["--mca", "btl", "openib"], ["btl=openib"]),
        (["-mca", "btl", "self,sm", "--mca", "pml", "ob1"], ["btl=self,sm", "pml=ob1"]),
        (["-genv", "I_MPI_PIN", "1"], ["I_MPI_PIN=1"]),
        (["-genv I_MPI_PIN 1"], ["I_MPI_PIN=1"]),
        (["-genv", "I_MPI_PIN=1"], ["I_MPI_PIN=1"]),
        (["-x", "UCX_TLS=tcp", "-x", "PATH"], ["UCX_TLS=tcp", "PATH"]),
        (["export", "I_MPI_PIN=1"], ["I_MPI_PIN=1"]),
        (["setenv", "I_MPI_PIN", "1"], ["I_MPI_PIN=1"]),
        (["--mca", "btl"], ["btl"]),
        (["--mca", "btl", "--mca", "pml", "ob1"], ["btl", "pml=ob1"]),
        (["-qhot", "-x", "vmo"], ["-qhot", "vmo"]),
        (["env"], ["env"]),
        (["--mca"], ["--mca"]),
    ],
)
def test_words_of_a_command_line_are_a_name_and_a_value(words: list[str], asked: list[str]) -> None:
    assert join_words(words) == asked


def test_a_removed_value_is_reported_with_its_replacement() -> None:
    (fabrics,) = find("I_MPI_FABRICS")
    (remark,) = value_remarks(fabrics, "shm:dapl")
    assert remark.startswith("the value dapl was removed in Intel MPI 2019; use ofi")
    assert value_remarks(fabrics, "shm:ofi") == value_remarks(fabrics, "") == []
    (order,) = find("I_MPI_PIN_ORDER")
    assert value_remarks(order, "compakt") == [
        "compakt is not one of its values (compact, scatter, spread, bunch, range)"
    ]
    (btl,) = find("btl")
    assert value_remarks(btl, "self,openib") == ["the value openib was removed in Open MPI 5.0; use pml=ucx"]
    assert "the value dapl was removed" in " ".join(current_text("I_MPI_FABRICS=shm:dapl", None, 100).split())


def test_the_installed_library_is_compared() -> None:
    def text(name: str) -> str:
        (found,) = find(name)
        return installed_text(found, MPICH)

    assert text("MPIR_CVAR_CH4_NUM_VCIS") == "MPICH 5.0.2 supports it, current value 1."
    assert text("MPIR_CVAR_POLLS_BEFORE_YIELD").startswith(
        "MPICH 5.0.2 supports it, current value 1000, without effect: "
    )
    assert text("MPICH_POLLS_BEFORE_YIELD").startswith(
        "MPICH 5.0.2 supports it as MPIR_CVAR_POLLS_BEFORE_YIELD, current value 1000"
    )
    assert text("MPICH_ASYNC_PROGRESS") == "MPICH 5.0.2 supports it as MPIR_CVAR_ASYNC_PROGRESS, current value 0."
    assert text("MPIR_CVAR_DEBUG_PROGRESS_TIMEOUT") == "MPICH 5.0.2 does not list it."
    assert text("I_MPI_PIN") == "MPICH 5.0.2 does not read variables of Intel MPI."
    assert installed_text(find("I_MPI_PIN")[0], None) == ""
    intel = Inventory("intelmpi", "2021.18.1", {"I_MPI_PIN": ""})
    assert installed_text(find("I_MPI_PIN")[0], intel) == "Intel MPI 2021.18.1 supports it."


def test_counterparts_come_from_the_neutral_settings_and_from_both_directions() -> None:
    limit = purpose(find("I_MPI_EAGER_THRESHOLD")[0])
    assert limit.neutral == ("eager-limit",)
    assert "MV2_IBA_EAGER_THRESHOLD" in limit.names["MVAPICH2"]
    assert "Intel MPI" not in limit.names, "names of its own library are no counterparts"
    assert purpose(find("MV2_ENABLE_AFFINITY")[0]).names["Intel MPI"] == ("I_MPI_PIN",)
    assert "MV2_ENABLE_AFFINITY" in purpose(find("I_MPI_PIN")[0]).names["MVAPICH2"]


def test_json_has_the_entry_with_its_source() -> None:
    (found,) = current_json("I_MPI_FABRICS", "tmi", MPICH)
    assert (found["library"], found["default"]) == ("Intel MPI", "shm:ofi")
    assert found["source"][0] == {
        "title": "impi_info -a -e",
        "version": "Intel MPI 2021.18.1",
        "kind": "listing",
        "address": "",
        "meanings": True,
    }
    assert found["value_remarks"][0].startswith("the value tmi was removed")
    assert found["neutral"] == ["shared-memory"]


def test_words_find_settings_by_name_and_meaning() -> None:
    assert "I_MPI_PIN_ORDER" in {f.name for f in find_words("pin order")}
    assert "MPIR_CVAR_COREDUMP_ON_ABORT" in {f.name for f in find_words("core dump")}
    assert writer.phrases(["pin", "order"]) == ["pin order"]
    assert writer.phrases(["I_MPI_PIN", "I_MPI_DEBUG"]) == ["I_MPI_PIN", "I_MPI_DEBUG"]
    assert find_words("nothing of the kind") == find_words("") == find_words("-") == ()


@functools.cache
def _distance(one: str, other: str) -> int:
    """Levenshtein's with exchanged neighbours (optimal string alignment), by its definition."""
    if not one or not other:
        return len(one) + len(other)
    ways = [_distance(one[1:], other) + 1, _distance(one, other[1:]) + 1]
    ways.append(_distance(one[1:], other[1:]) + (one[0] != other[0]))
    if one[:2] == other[:2][::-1] and len(one) > 1:
        ways.append(_distance(one[2:], other[2:]) + 1)
    return min(ways)


@given(st.text("abc_", max_size=7), st.text("abc_", max_size=7))
@settings(max_examples=200, deadline=None)
def test_edits_are_those_of_the_definition(one: str, other: str) -> None:
    for most in (0, 1, 2):
        assert edits(one, other, most) == min(_distance(one, other), most + 1)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_a_name_with_two_wrong_letters_is_suggested(data: st.DataObject) -> None:
    """Unless three other names are as near."""
    variable = name = data.draw(
        st.sampled_from([lib.environment + s.name for lib, s in NAMES if len(s.name) > 8 and s.name[0] != "-"])
    )
    for _ in range(data.draw(st.integers(1, 2))):
        at = data.draw(st.integers(0, len(name) - 1))
        letter = data.draw(st.sampled_from(["", "X", name[at] + "Q"]))
        name = name[:at] + letter + name[at + 1 :]
    if find(name):
        return
    near = suggest(name)
    assert variable in near or len(near) == 3, (name, near)
    environments = tuple(held.environment for held in libraries().values() if held.environment)

    def bare(text: str) -> str:
        prefix = next((prefix for prefix in environments if text.startswith(prefix)), "")
        return text.removeprefix(prefix).lower().strip("-").replace("_", "-")

    for other in near:
        pairs = ((bare(name), bare(other)), (name.lower().replace("_", "-"), other.lower().replace("_", "-")))
        assert any(edits(a, b, 2) <= 2 or sorted(a.split("-")) == sorted(b.split("-")) for a, b in pairs), other


@given(st.text("bcdfghjkqwxz", min_size=5, max_size=20))
@settings(max_examples=60, deadline=None)
def test_words_that_resemble_nothing_get_no_suggestion(word: str) -> None:
    assert suggest(f"I_MPI_{word}_{word}") == []


def test_only_similar_names_are_suggested() -> None:
    assert suggest("I_MPI_DOMAIN_PIN") == ["I_MPI_PIN_DOMAIN"]
    assert suggest("I_MPI_PIN_DOMAINS") == ["I_MPI_PIN_DOMAIN"]
    assert suggest("MPIR_CVAR_NOLOCL") == ["MPIR_CVAR_NOLOCAL"]
    assert suggest("I_MPI_EAGER_LIMIT") == [], "half of the words are no resemblance"
    assert suggest("OMPI_MCA_btl_sm_eager_limt") == ["OMPI_MCA_btl_sm_eager_limit"]
    assert suggest("btl_sm_eager_limt") == ["btl_sm_eager_limit"]
    assert suggest("OMPI_MCA_xy") == [], "the prefix of all of them is no resemblance"
    assert suggest("pni") == suggest("") == []


@given(
    st.text(max_size=40)
    | st.lists(st.sampled_from(["--mca", "-genv", "btl", "=", "x", "-", "I_MPI_PIN"])).map(" ".join)
)
@settings(max_examples=25, deadline=None)
def test_any_words_are_answered_or_refused(text: str) -> None:
    for word in writer.phrases(text.split(" ")):
        with contextlib.suppress(ValueError):  # the message is a refusal's
            assert writer.entry_text(word, None, MPICH)


PAGES = {
    "value-that-was-removed": "I_MPI_FABRICS=shm:dapl",
    "in-the-installed-library": "MPIR_CVAR_NOLOCAL",
    "removed-with-successor": "I_MPI_EAGER_THRESHOLD",
    "documentation-only": "MPICH_GPU_SUPPORT_ENABLED",
}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_reads_as_stored(page: str, request: pytest.FixtureRequest) -> None:
    path = DATA / "settings" / f"{page}.txt"
    now = current_text(PAGES[page], MPICH, 100) + "\n"
    if request.config.getoption("--rewrite"):
        path.write_text(now, encoding="utf-8")
    assert now == path.read_text(encoding="utf-8")


def test_inferred_meanings_and_unknown_removals_are_said() -> None:
    """Names that are known only from a listing, or only from a message of two versions."""
    page = " ".join(current_text("I_MPI_CBWR", None, 100).split())
    assert INFERRED in page
    assert INFERRED not in " ".join(current_text("I_MPI_PIN", None, 100).split())
    page = " ".join(current_text("I_MPI_SHM_FBOX", None, 100).split())
    assert "not in Intel MPI 2021.1, the earliest examined version; the version that removed it is not known." in page
    assert INFERRED in page
    assert "how to set it" not in page
    (found,) = current_json("I_MPI_SHM_FBOX", "", None)
    assert (found["inferred"], found["absent"], found["until"]) == (True, "2021.1", "")
    assert "(Inferred from the name.)" in words_text("shm fbox", 100)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("MKL_VERBOSE", "MPIR_CVAR_DEBUG_SUMMARY"),
        ("KMP_BLOCKTIME", "OMPI_MCA_mpi_yield_when_idle"),
        ("UCX_TLS", "OMPI_MCA_btl_sm_segment_size"),
        ("UCX_TLS", "MPIR_CVAR_NUM_CLIQUES"),
        ("FI_PROVIDER", "MPIR_CVAR_NOLOCAL"),
        ("mpi_leave_pinned", "MPIR_CVAR_CH4_OFI_RNDV_PROTOCOL"),
        ("FI_OFI_RXM_USE_SRX", "I_MPI_DYNAMIC_CONNECTION"),
        ("coll_tuned_allreduce_algorithm", "I_MPI_TUNING_BIN"),
        ("I_MPI_ADJUST_ALLREDUCE", "MPIR_CVAR_DEVICE_COLLECTIVES"),
    ],
)
def test_settings_of_another_purpose_are_no_counterparts(name: str, other: str) -> None:
    """Helpers of a neutral setting, members of a wide knob, and libraries that have nothing to do with messages."""
    (found,) = find(name)
    assert other not in {each for names in purpose(found).names.values() for each in names}


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("UCX_TLS", "FI_PROVIDER"),
        ("UCX_RNDV_THRESH", "OMPI_MCA_btl_sm_eager_limit"),
        ("I_MPI_ADJUST_ALLREDUCE", "OMPI_MCA_coll_tuned_allreduce_algorithm"),
        ("I_MPI_ADJUST_BCAST", "MPIR_CVAR_BCAST_INTRA_ALGORITHM"),
        ("NCCL_IB_HCA", "UCX_NET_DEVICES"),
        ("MKL_VERBOSE", "OPENBLAS_VERBOSE"),
        ("KMP_BLOCKTIME", "OMP_WAIT_POLICY"),
    ],
)
def test_settings_of_one_purpose_are_counterparts(name: str, other: str) -> None:
    (found,) = find(name)
    assert other in {each for names in purpose(found).names.values() for each in names}


def test_every_counterpart_has_a_page_of_its_own_and_is_not_removed() -> None:
    for held, one in NAMES:
        for other in (
            name
            for names in purpose(SettingMatch(_KEYS[held.title], held, one, one.name)).names.values()
            for name in names
        ):
            assert find(other), (one.name, other)
            assert not find(other)[0].setting.gone(), (one.name, other)


_KEYS = {held.title: key for key, held in libraries().items()}


def test_neutral_settings_are_named_only_where_they_set_something() -> None:
    for name in ("OMP_WAIT_POLICY", "MKL_VERBOSE", "glibc.malloc.hugetlb", "NCCL_IB_HCA"):
        assert purpose(find(name)[0]).neutral == (), name
    assert purpose(find("UCX_NET_DEVICES")[0]).neutral == ("adapters",)


def test_a_long_list_of_counterparts_is_cut() -> None:
    text = current_text("I_MPI_DEBUG", None, 100)
    (row,) = re.findall(r"Open MPI: ((?:.|\n {17})*)", text)
    assert row.count("OMPI_MCA_") == 3
    assert re.search(r"and \d more \(--json\)", row)
    (found,) = current_json("I_MPI_DEBUG", "", None)
    assert len(found["counterparts"]["Open MPI"]) > 3


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--cpu-bind=cores"], "srun --cpu-bind=cores -n 2 ./prog"),
        (["--map-by", "ppr:2:package:PE=4"], "mpirun --map-by ppr:2:package:PE=4 -n 2 ./prog"),
        (["--bind-to", "core"], "mpirun --bind-to core -n 2 ./prog"),
        (["-bind-to", "core"], "mpiexec -bind-to core -n 2 ./prog"),
        (["--exact"], "srun --exact -n 2 ./prog"),
        (["-c", "8"], "srun -c 8 -n 2 ./prog"),
        (["-N", "2"], "srun -N 2 -n 2 ./prog"),
        (["-n", "4"], "srun -n 4 ./prog"),
        (["-m", "block:cyclic"], "srun -m block:cyclic -n 2 ./prog"),
        (["-ppn", "4"], "mpiexec -ppn 4 -n 2 ./prog"),
    ],
)
def test_an_option_is_answered_with_a_line_that_gives_it(words: list[str], line: str) -> None:
    """Once by each launcher that has it, that with exactly this name first."""
    (word,) = writer.phrases(words)
    text = writer.entry_text(word, None)
    name = word.partition("=")[0]
    assert text.startswith(f"{name}  (")
    first = text.index("how to set it")
    assert text[first:].startswith(f"how to set it  {line}\n")
    assert text.count("how to set it") == len(find(name)) == len({one.key for one in find(name)})
    assert "is not one of its values" not in text


def test_a_letter_alone_is_no_option() -> None:
    assert find("c") == find("n") == ()
    assert [one.setting.name for one in find("-n") + find("-N")] == ["SLURM_NTASKS", "SLURM_NNODES"]


@pytest.mark.parametrize(
    ("name", "head"),
    [
        (
            "MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE",
            "MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE  (MPICH): listed, but not used by ch4 builds",
        ),
        ("DCMF_EAGER", "DCMF_EAGER  (Blue Gene/P; 1200 bytes)"),
    ],
)
def test_a_name_of_a_purpose_is_the_head_of_its_page(name: str, head: str) -> None:
    assert writer.entry_text(name, None).startswith(head)


def test_a_value_that_the_library_takes_is_not_called_unknown() -> None:
    taken = [
        "mpi_leave_pinned=1", "coll_tuned_allreduce_algorithm=4", "UCX_IB_PCI_RELAXED_ORDERING=on",
        "UCX_MEMTYPE_CACHE=no", "MKL_CBWR=AVX2,STRICT", "PRTE_MCA_mapby=ppr:2:package:PE=4",
        "SLURM_MPI_TYPE=pmix_v4", "NCCL_NET_GDR_LEVEL=5", "UCX_LOG_LEVEL=poll",
    ]  # fmt: skip
    for name, _, value in (word.partition("=") for word in taken):
        assert value_remarks(find(name)[0], value) == [], name
    assert value_remarks(find("UCX_IB_PATH_MTU")[0], "9000") != []


def test_a_removed_name_in_a_list_of_exclusions_is_not_replaced() -> None:
    (remark,) = value_remarks(find("btl")[0], "^openib")
    assert remark == "Open MPI does not have openib from 5.0: remove it from the excluded names"


def test_the_library_that_reads_a_variable_is_first() -> None:
    assert [one.key for one in find("FI_CXI_DEFAULT_CQ_SIZE")] == ["libfabric", "cray-mpich"]
    text = current_text("FI_CXI_DEFAULT_CQ_SIZE", MPICH, 100)
    assert "does not read variables of Cray MPICH" not in text


@pytest.mark.parametrize(
    ("asked", "near"),
    [("UCX_NET_DEVICE", "UCX_NET_DEVICES"), ("SLURM_CPU_BIN", "SLURM_CPU_BIND"), ("UCX_RNDV", "")],
)
def test_a_misspelt_name_is_no_beginning_of_an_old_one(asked: str, near: str) -> None:
    if near:
        with pytest.raises(ValueError, match=f"no setting '{asked}'; did you mean {near}"):
            writer.entry_text(asked, None)
    else:
        assert writer.entry_text(asked, None)


def test_only_an_option_is_suggested_for_an_option() -> None:
    with pytest.raises(ValueError, match="no setting '-bysocket' in Octant's tables"):
        writer.entry_text("-bysocket", None)
    with pytest.raises(ValueError, match="no setting '--cpu-bnd'; did you mean --cpu-bind"):
        writer.entry_text("--cpu-bnd", None)


def test_an_unknown_name_is_called_unknown() -> None:
    with pytest.raises(
        ValueError, match=r"no setting 'I_MPI_DEVICE'; longer names that contain it: I_MPI_FALLBACK_DEVICE"
    ):
        writer.entry_text("I_MPI_DEVICE=rdssm", None)
    with pytest.raises(
        ValueError, match=r"no setting 'UCX_IB_ADDR_TYPE' in Octant's tables; variables of UCX have this prefix"
    ):
        writer.entry_text("UCX_IB_ADDR_TYPE", None)


def test_a_name_that_only_old_settings_mention_is_the_head_of_their_page() -> None:
    assert writer.entry_text("HUGETLB_MORECORE=yes", None).startswith("HUGETLB_MORECORE: the tables have no entry")


@pytest.mark.parametrize(
    ("phrase", "first"),
    [
        ("huge pages", "glibc.malloc.hugetlb"),
        ("pinning", "KMP_AFFINITY"),
        ("process pinning", "I_MPI_PIN"),
        ("binding", "I_MPI_PIN"),
        ("rendezvous", "UCX_RNDV_THRESH"),
        ("number of threads", "BLIS_NUM_THREADS"),
        ("service level", "UCX_IB_SL"),
        ("stack size", "OMP_STACKSIZE"),
    ],
)
def test_a_phrase_is_answered_with_current_settings_before_old_ones(phrase: str, first: str) -> None:
    (word,) = writer.phrases(phrase.split())
    text = writer.entry_text(word, None)
    assert text.index(f"  {first} ") < (text + "In the documents").index("In the documents")
    labels = [line for line in text.splitlines() if re.match(r"  \S{15,}", line)]
    assert all(re.match(r"  \S+  ?\S", line) for line in labels), labels
