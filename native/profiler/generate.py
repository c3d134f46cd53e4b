"""Generate the wrappers of the MPI profiler from the description of MPI 5.0 in the package pympistandard.

`python native/profiler/generate.py` writes `calls.inc`, `wrappers.inc` and `src/octant/profile/call_names.py`;
`--check` compares them with the files of the tree. The package is needed at development time only.
"""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from bodies import CHANGES, body

FOLDER = Path(__file__).resolve().parent
NAMES = FOLDER.parents[1] / "src" / "octant" / "profile" / "call_names.py"

REMOVED = {
    "MPI_Address": "location:BUFFER address:DISPLACEMENT*",
    "MPI_Errhandler_create": "function:FUNCTION errhandler:ERRHANDLER*",
    "MPI_Errhandler_get": "comm:COMMUNICATOR errhandler:ERRHANDLER*",
    "MPI_Errhandler_set": "comm:COMMUNICATOR errhandler:ERRHANDLER",
    "MPI_Type_extent": "datatype:DATATYPE extent:DISPLACEMENT*",
    "MPI_Type_hindexed": "count:ARRAY_LENGTH_NNI array_of_blocklengths:ARRAY_LENGTH_NNI[] "
    "array_of_displacements:DISPLACEMENT[] oldtype:DATATYPE newtype:DATATYPE*",
    "MPI_Type_hvector": "count:ARRAY_LENGTH_NNI blocklength:ARRAY_LENGTH_NNI stride:DISPLACEMENT oldtype:DATATYPE "
    "newtype:DATATYPE*",
    "MPI_Type_lb": "datatype:DATATYPE displacement:DISPLACEMENT*",
    "MPI_Type_struct": "count:ARRAY_LENGTH_NNI array_of_blocklengths:ARRAY_LENGTH_NNI[] "
    "array_of_displacements:DISPLACEMENT[] array_of_types:DATATYPE[] newtype:DATATYPE*",
    "MPI_Type_ub": "datatype:DATATYPE displacement:DISPLACEMENT*",
}
"""Arguments of calls that MPI 3.0 removed and libraries still have: NAME:KIND, * for output, [] for arrays."""


@dataclass(frozen=True)
class Argument:
    """One argument of a call, as the standard describes it."""

    name: str
    kind: str  # of pympistandard: BUFFER, COMMUNICATOR, RANK, POLYXFER_NUM_ELEM_NNI, …
    direction: str  # "in", "out", "inout"
    array: bool
    large_only: bool  # only in the large-count variant
    in_c: bool
    in_fortran: bool  # without ierror
    length: str  # of an array or a string, where the standard names it: "count", "*" (not named), ""

    @property
    def handle(self) -> bool:
        """Return whether it is a handle or an array of handles."""
        return self.kind in HANDLES


HANDLES = frozenset(
    {"COMMUNICATOR", "DATATYPE", "ERRHANDLER", "FILE", "GROUP", "INFO", "MESSAGE", "OPERATION", "REQUEST", "SESSION"}
    | {"WINDOW"}
)


@dataclass(frozen=True)
class MpiCall:
    """One call of MPI; its large-count variant shares the number and is a function of its own."""

    number: int
    name: str  # "MPI_Send"
    arguments: tuple[Argument, ...]  # without ierror
    large: bool  # NAME_c exists
    timed: bool  # others are counted
    mpif: bool  # in mpif.h and `use mpi`
    f08: bool  # in `use mpi_f08`

    @property
    def short(self) -> str:
        """Return the name without MPI_, in identifiers: octant_call_Send."""
        return self.name.removeprefix("MPI_")

    def in_c(self, *, large: bool = False) -> tuple[Argument, ...]:
        """Return arguments in C, of the large-count variant if asked."""
        return tuple(one for one in self.arguments if one.in_c and (large or not one.large_only))

    def in_fortran(self, *, large: bool = False) -> tuple[Argument, ...]:
        """Return arguments in Fortran without ierror, of the large-count variant if asked."""
        return tuple(one for one in self.arguments if one.in_fortran and (large or not one.large_only))


@cache
def source() -> bytes:
    """Return the description of MPI that the files are generated from."""
    return files("pympistandard").joinpath("data", "apis.json").read_bytes()


def digest() -> str:
    """Return the SHA-256 of the description."""
    return hashlib.sha256(source()).hexdigest()


def _argument(one: dict[str, object]) -> Argument:
    suppressed = str(one["suppress"]).split()
    return Argument(
        name=str(one["name"]),
        kind=str(one["kind"]),
        direction=str(one["param_direction"]),
        array=one["length"] is not None and one["kind"] != "STRING",
        large_only=bool(one["large_only"]),
        in_c="c_parameter" not in suppressed,
        in_fortran="f08_parameter" not in suppressed and "f90_parameter" not in suppressed,
        length="" if one["length"] is None else str(one["length"]),
    )


def _removed(text: str) -> tuple[Argument, ...]:
    return tuple(
        Argument(
            name=(parts := word.split(":"))[0],
            kind=parts[1].strip("*[]"),
            direction="out" if "*" in parts[1] else "in",
            array="[]" in parts[1],
            large_only=False,
            in_c=True,
            in_fortran=True,
            length="",
        )
        for word in text.split()
    )


@cache
def describe() -> tuple[MpiCall, ...]:
    """Return all calls that are wrapped, in the order of their numbers, which start at 1."""
    found: dict[str, tuple[tuple[Argument, ...], bool, bool, bool]] = {
        name: (_removed(text), False, True, False) for name, text in REMOVED.items()
    }
    for one in json.loads(source()).values():
        how = one["attributes"]
        if not how["c_expressible"] or how["callback"] or how["predefined_function"]:
            continue
        if one["return_kind"] != "ERROR_CODE" or "f08" in one["name"]:  # conversions of statuses
            continue
        given = tuple(_argument(each) for each in one["parameters"] if each["name"] != "ierror")
        large = any(each.kind.startswith("POLY") for each in given)
        mpif = bool(how["f90_expressible"]) and not how["not_with_mpif"]
        found[one["name"]] = (given, large, mpif, bool(how["f08_expressible"]))
    return tuple(
        MpiCall(number, name, given, large, is_timed(name), mpif, f08)
        for number, (name, (given, large, mpif, f08)) in enumerate(sorted(found.items()), 1)
    )


def _each(pattern: str, names: str) -> tuple[str, ...]:
    return tuple(pattern.format(one) for one in names.split())


_COLLECTIVES = (
    "allgather allgatherv allreduce alltoall alltoallv alltoallw barrier bcast exscan gather gatherv reduce "
    "reduce_scatter reduce_scatter_block scan scatter scatterv neighbor_allgather neighbor_allgatherv "
    "neighbor_alltoall neighbor_alltoallv neighbor_alltoallw"
)
_TRANSFERS = "{} {}_all {}_at {}_at_all {}_ordered {}_shared"

RULES: dict[str, tuple[str, ...]] = {
    # Point-to-point: count × size, received bytes for receives; PROC_NULL: 0.
    "send": (*_each("MPI_{}send", "B R S"), "MPI_Send"),
    "isend": (*_each("MPI_I{}send", "b r s"), "MPI_Isend"),
    "send_init": (*_each("MPI_{}send_init", "B R S"), "MPI_Send_init"),
    "recv": ("MPI_Recv",),
    "irecv": ("MPI_Irecv",),
    "recv_init": ("MPI_Recv_init",),
    "mrecv": ("MPI_Mrecv",),
    "imrecv": ("MPI_Imrecv",),
    "sendrecv": ("MPI_Sendrecv",),  # what is sent; the peers of both messages are recorded
    "isendrecv": ("MPI_Isendrecv",),
    "sendrecv_replace": ("MPI_Sendrecv_replace",),
    "isendrecv_replace": ("MPI_Isendrecv_replace",),
    "psend_init": ("MPI_Psend_init",),
    "precv_init": ("MPI_Precv_init",),
    # Bytes of persistent operations are those of the call that starts them.
    "start": ("MPI_Start",),
    "startall": ("MPI_Startall",),
    # Completion: no bytes of their own; received bytes are charged to the call that posted the receive.
    "wait": ("MPI_Wait",),
    "test": ("MPI_Test",),
    "waitall": ("MPI_Waitall",),
    "testall": ("MPI_Testall",),
    "waitany": ("MPI_Waitany",),
    "testany": ("MPI_Testany",),
    "waitsome": ("MPI_Waitsome",),
    "testsome": ("MPI_Testsome",),
    # Collectives: what this rank contributes as sender, see `bytes.h`.
    **{f"{name}": (f"MPI_{name.capitalize()}",) for name in _COLLECTIVES.split()},
    **{f"i{name}": (f"MPI_I{name}",) for name in _COLLECTIVES.split()},
    **{f"{name}_init": (f"MPI_{name.capitalize()}_init",) for name in _COLLECTIVES.split()},
    # One-sided: bytes at the origin.
    "put": ("MPI_Put", "MPI_Accumulate"),
    "get": ("MPI_Get",),
    "get_accumulate": ("MPI_Get_accumulate",),
    "fetch_and_op": ("MPI_Fetch_and_op",),
    "compare_and_swap": ("MPI_Compare_and_swap",),
    "rput": ("MPI_Rput", "MPI_Raccumulate"),
    "rget": ("MPI_Rget",),
    "rget_accumulate": ("MPI_Rget_accumulate",),
    # Files: bytes transferred, from the status.
    "transfer": tuple(
        f"MPI_File_{one}" for name in ("read", "write") for one in _TRANSFERS.format(*[name] * 6).split()
    ),
    "itransfer": tuple(
        f"MPI_File_{one}"
        for name in ("iread", "iwrite")
        for one in _TRANSFERS.format(*[name] * 6).split()
        if "ordered" not in one
    ),
    "transfer_begin": tuple(
        f"MPI_File_{name}_{one}_begin" for name in ("read", "write") for one in ("all", "at_all", "ordered")
    ),
    "transfer_end": tuple(
        f"MPI_File_{name}_{one}_end" for name in ("read", "write") for one in ("all", "at_all", "ordered")
    ),
    # No bytes; a request without bytes.
    "none": (
        *_each("MPI_{}", "Probe Iprobe Pready Pready_range Pready_list Parrived Buffer_detach"),
        *_each("MPI_Request_get_status{}", "_all _any _some"),
        *_each("MPI_{}", "Request_get_status Buffer_flush Comm_detach_buffer Comm_flush_buffer"),
        *_each("MPI_Session_{}", "detach_buffer flush_buffer"),
        *_each("MPI_Win_{}", "complete fence flush flush_all flush_local flush_local_all lock lock_all post start"),
        *_each("MPI_Win_{}", "sync test unlock unlock_all wait"),
        *_each("MPI_File_{}", "delete get_size preallocate set_size set_view sync seek_shared"),
    ),
    "mprobe": ("MPI_Mprobe", "MPI_Improbe"),
    "none_request": _each("MPI_{}", "Buffer_iflush Comm_iflush_buffer Session_iflush_buffer"),
    # Calls that make or free something, most of them collective; `CHANGES` has what is noted about the object.
    "object": (
        *_each("MPI_Comm_{}", "accept connect create create_from_group create_group dup dup_with_info join spawn"),
        *_each("MPI_Comm_{}", "spawn_multiple split split_type free disconnect"),
        *_each("MPI_{}", "Cart_create Cart_sub Dist_graph_create Dist_graph_create_adjacent Graph_create"),
        *_each("MPI_Intercomm_{}", "create create_from_groups merge"),
        *_each("MPI_Win_{}", "allocate allocate_shared create create_dynamic free"),
        *_each("MPI_File_{}", "open close"),
    ),
    "idup": _each("MPI_Comm_{}", "idup idup_with_info"),
}
"""Byte rule of each timed call; all calls without a rule are counted only."""


@cache
def rules() -> dict[str, str]:
    """Return the rule of each timed call by its name."""
    return {name: rule for rule, names in RULES.items() for name in names}


def is_timed(name: str) -> bool:
    """Return whether the duration of this call is recorded."""
    return name in rules()


LOCAL = frozenset(
    _each("MPI_{}", "Cancel Comm_attach_buffer Grequest_complete Grequest_start Pack Request_free Unpack Win_attach")
    + _each("MPI_{}", "Win_detach")
)
"""Calls that have a request, or a buffer and a communicator, window or file, and neither communicate nor wait."""


def unruled() -> list[str]:
    """Return calls that look like communication and have no byte rule, and rules of calls that do not exist."""
    missing = set(rules()) - {call.name for call in describe()}
    for call in describe():
        kinds = {one.kind for one in call.arguments}
        moves = "BUFFER" in kinds and kinds & {"COMMUNICATOR", "WINDOW", "FILE"}
        if (moves or kinds & {"REQUEST", "MESSAGE"}) and not call.timed and call.name not in LOCAL:
            missing.add(call.name)
    return sorted(missing)


def _heading(comment: str) -> list[str]:
    return [
        f"{comment} Generated by native/profiler/generate.py from pympistandard 0.2.0 (MIT), MPI 5.0.",
        f"{comment} SHA-256 of its description: {digest()}",
    ]


def calls_inc() -> str:
    """Return numbers of calls and names of functions."""
    calls = describe()
    lines = [
        *_heading("//"),
        "// OCTANT_CALL(number, name, arguments in C, timed)",
        "// OCTANT_LARGE(name, arguments in C): the large-count variant NAME_c, a function without a number of its own",
        "#ifndef OCTANT_LARGE",
        "#define OCTANT_LARGE(name, arguments)",
        "#endif",
    ]
    lines += [f"OCTANT_CALL({one.number}, {one.short}, {len(one.in_c())}, {int(one.timed)})" for one in calls]
    lines += [f"OCTANT_LARGE({one.short}, {len(one.in_c(large=True))})" for one in calls if one.large]
    return "\n".join([*lines, "#undef OCTANT_CALL", "#undef OCTANT_LARGE", ""])


def call_names() -> str:
    """Return the Python module with the names of calls."""
    lines = [
        '"""Names of the calls of MPI by their number in files of processes: `native/profiler/calls.inc`."""',
        "",
        *_heading("#"),
        "",
        "CALL_NAMES: tuple[str, ...] = (",
        '    "",  # numbers start at 1',
        *(f'    "{one.name}",' for one in describe()),
        ")",
        "",
    ]
    return "\n".join(lines)


_ADDRESS = "__builtin_return_address(0)"


def _function(call: MpiCall, *, large: bool) -> list[str]:
    names = [one.name for one in call.in_c(large=large)]
    suffix, number = ("_c", f"octant_call_{call.short} + octant_large") if large else ("", f"octant_call_{call.short}")
    name, given = f"{call.short}{suffix}", ", ".join(f"octant_slot {one}" for one in names) or "void"
    passed_on = f"next({', '.join(names)})"
    lines = [
        f"OCTANT_EXPORT octant_slot MPI_{name}({given});",
        f"octant_slot MPI_{name}({given}) {{",
        f"    OCTANT_NEXT({len(names)}, {number})",
    ]
    if not needs_runner(call):
        return [
            *lines,
            f"    {body(call, rules().get(call.name), large=large, address=_ADDRESS, invocation=passed_on)}",
            "}",
        ]
    return [
        f"#define OCTANT_BODY_{name}(address, invocation) \\",
        f"    {body(call, rules().get(call.name), large=large, address='address', invocation='invocation')}",
        *lines,
        f"    OCTANT_BODY_{name}({_ADDRESS}, {passed_on})",
        "}",
        f"OCTANT_RUNNER({name}) {{",
        *([f"    OCTANT_ARGUMENT({index}, {one})" for index, one in enumerate(names)] or ["    (void)arguments;"]),
        f"    OCTANT_BODY_{name}(address, octant_invoke(context))",
        "}",
    ]


def needs_runner(call: MpiCall) -> bool:
    """Whether the arguments of a call are read, so that calls from Fortran need them in C."""
    return call.timed or call.name in CHANGES


def wrappers_inc() -> str:
    """Return the functions of the program's calls, and of the calls from Fortran."""
    lines = [*_heading("//"), ""]
    table = []
    for call in describe():
        for large in (False, True)[: 1 + call.large]:
            lines += _function(call, large=large)
            if needs_runner(call):
                plus, suffix = (" + octant_large", "_c") if large else ("", "")
                table.append(f"    [octant_call_{call.short}{plus}] = run_{call.short}{suffix},")
    lines += [
        "",
        "static octant_runner* const octant_runners[2 * octant_large] = {",
        *table,
        "};",
        "",
    ]
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Write or check the files; return the exit status."""
    if missing := unruled():
        print(f"calls without a byte rule: {', '.join(missing)}; add them to RULES or LOCAL", file=sys.stderr)
        return 1
    outputs = {FOLDER / "calls.inc": calls_inc(), FOLDER / "wrappers.inc": wrappers_inc(), NAMES: call_names()}
    if arguments not in ([], ["--check"]):
        print("usage: generate.py [--check]", file=sys.stderr)
        return 2
    for path, text in outputs.items():
        if not arguments:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            print(f"{path} is not current; run python native/profiler/generate.py", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
