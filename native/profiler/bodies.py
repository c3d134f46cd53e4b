"""What the wrappers of the MPI profiler do before and after each call, as C code with the names of its arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from generate import Argument, MpiCall

_SENT = "&mark, {count}, {datatype}, {dest}, {comm}"
_OWN_STATUS = """_Alignas(16) char own[octant_status_bytes_max];
    status = choose_status(status, {needed}, own);"""
_SEVERAL = """struct octant_completion completion;
    bool const is_tracked = octant_begin_completion(&completion, (void const*)array_of_requests, {number});"""
_ALL_STATUSES = (
    "if (is_tracked) array_of_statuses = octant_choose_statuses(&completion, array_of_statuses, completion.count);"
)
_ONE_STATUS = "if (is_tracked) status = octant_choose_statuses(&completion, status, 1);"
_END_SEVERAL = """if (is_recorded) octant_record(&mark, octant_no_communicator, 0);
    if (is_tracked) end_several(&mark, &completion, (void const*)array_of_requests, {indices}, {completed});
    octant_end_completion(&completion);"""
_SOME = """int const completed = is_tracked && mark.succeeded ? defined_or_zero(*(int const*)outcount) : 0;"""

POINT_TO_POINT: dict[str, tuple[str, str]] = {
    "send": ("", f"after_send({_SENT});"),
    "isend": ("", f"after_isend({_SENT}, {{request}});"),
    "send_init": ("", f"after_send_init({_SENT}, {{request}});"),
    "recv": (_OWN_STATUS.format(needed="true"), "after_recv(&mark, {comm}, {status});"),
    "irecv": ("", "after_irecv(&mark, {count}, {datatype}, {source}, {comm}, {request});"),
    "recv_init": ("", "after_recv_init(&mark, {comm}, {request});"),
    "mprobe": ("", "after_mprobe(&mark, {comm}, {matched}, {message});"),
    "mrecv": (
        "octant_slot const handle = load_object(message);\n    " + _OWN_STATUS.format(needed="true"),
        "after_mrecv(&mark, handle, {status});",
    ),
    "imrecv": (
        "octant_slot const handle = load_object(message);",
        "after_imrecv(&mark, {count}, {datatype}, handle, {request});",
    ),
    "sendrecv": (
        _OWN_STATUS.format(needed="true"),
        "after_sendrecv(&mark, {sendcount}, {sendtype}, {dest}, {comm}, {status});",
    ),
    "sendrecv_replace": (_OWN_STATUS.format(needed="true"), f"after_sendrecv({_SENT}, {{status}});"),
    "isendrecv": (
        "",
        "after_isendrecv(&mark, {sendcount}, {sendtype}, {dest}, {recvcount}, {recvtype}, {source}, {comm}, "
        "{request});",
    ),
    "isendrecv_replace": (
        "",
        "after_isendrecv(&mark, {count}, {datatype}, {dest}, {count}, {datatype}, {source}, {comm}, {request});",
    ),
    "psend_init": (
        "",
        "after_send_init(&mark, {partitions} * {count}, {datatype}, {dest}, {comm}, {request});",
    ),
    "precv_init": (
        "",
        "after_precv_init(&mark, {partitions} * {count}, {datatype}, {source}, {comm}, {request});",
    ),
    "start": ("", "after_start(&mark, (void const*)request, 1);"),
    "startall": ("", "after_start(&mark, (void const*)array_of_requests, (int)count);"),
}
"""What is executed before and after the call, by rule. The names are those of the arguments in the standard."""

_WAIT = "struct single const single = begin_single(request);\n    " + _OWN_STATUS.format(
    needed="single.is_tracked && needs_statuses()"
)

COMPLETIONS: dict[str, tuple[str, str]] = {
    "wait": (_WAIT, "end_single(&mark, single, true, status, is_recorded);"),
    "test": (
        _WAIT,
        "end_single(&mark, single, !mark.succeeded || *(int const*)flag != 0, status, is_recorded);",
    ),
    "waitall": (
        _SEVERAL.format(number="count") + "\n    " + _ALL_STATUSES,
        _END_SEVERAL.format(indices="NULL", completed="1"),
    ),
    "testall": (
        _SEVERAL.format(number="count") + "\n    " + _ALL_STATUSES,
        _END_SEVERAL.format(indices="NULL", completed="*(int const*)flag != 0"),
    ),
    "waitany": (
        _SEVERAL.format(number="count") + "\n    " + _ONE_STATUS,
        _END_SEVERAL.format(indices="(int const*)index", completed="!octant_is_undefined(*(int const*)index)"),
    ),
    "testany": (
        _SEVERAL.format(number="count") + "\n    " + _ONE_STATUS,
        _END_SEVERAL.format(
            indices="(int const*)index", completed="*(int const*)flag != 0 && !octant_is_undefined(*(int const*)index)"
        ),
    ),
    **{
        name: (
            _SEVERAL.format(number="incount") + "\n    " + _ALL_STATUSES,
            _SOME + "\n    " + _END_SEVERAL.format(indices="(int const*)array_of_indices", completed="completed"),
        )
        for name in ("waitsome", "testsome")
    },
}

_TO = "octant_find_destinations({comm})"
COLLECTIVES = {
    "allgather": "allgather({shape}, {sendcount}, {sendtype}, {recvcount}, {recvtype})",
    "allgatherv": "allgatherv({shape}, {sendcount}, {sendtype}, {recvcounts}, {recvtype}, {large})",
    "allreduce": "({count}, {datatype})",
    "alltoall": "alltoall({shape}, {sendcount}, {sendtype}, {recvcount}, {recvtype})",
    "alltoallv": "alltoallv({shape}, {sendbuf}, {sendcounts}, {sendtype}, {recvcounts}, {recvtype}, {large})",
    "alltoallw": "alltoallw({shape}, {sendbuf}, {sendcounts}, {sendtypes}, {recvcounts}, {recvtypes}, {large})",
    "barrier": "",
    "bcast": "bcast({shape}, {count}, {datatype}, {root})",
    "exscan": "({count}, {datatype})",
    "gather": "gather({shape}, {sendbuf}, {sendcount}, {sendtype}, {recvcount}, {recvtype}, {root})",
    "gatherv": "gatherv({shape}, {sendbuf}, {sendcount}, {sendtype}, {recvcounts}, {recvtype}, {root}, {large})",
    "reduce": "reduce({shape}, {count}, {datatype}, {root})",
    "reduce_scatter": "reduce_scatter({shape}, {recvcounts}, {datatype}, {large})",
    "reduce_scatter_block": "reduce_scatter_block({shape}, {recvcount}, {datatype})",
    "scan": "({count}, {datatype})",
    "scatter": "scatter({shape}, {sendcount}, {sendtype}, {root})",
    "scatterv": "scatterv({shape}, {sendcounts}, {sendtype}, {root}, {large})",
    "neighbor_allgather": f"neighbors({_TO}, {{sendcount}}, {{sendtype}})",
    "neighbor_allgatherv": f"neighbors({_TO}, {{sendcount}}, {{sendtype}})",
    "neighbor_alltoall": f"neighbors({_TO}, {{sendcount}}, {{sendtype}})",
    "neighbor_alltoallv": f"neighborsv({_TO}, {{sendcounts}}, {{sendtype}}, {{large}})",
    "neighbor_alltoallw": f"neighborsw({_TO}, {{sendcounts}}, {{sendtypes}}, {{large}})",
}
"""Bytes of each collective: a function of `bytes.h` without its prefix, or the arguments of octant_bytes."""

_RMA = {
    "put": "after_rma(&mark, puts_data, {origin_count}, {origin_datatype}, {target_rank}, {win})",
    "get": "after_rma(&mark, gets_data, {origin_count}, {origin_datatype}, {target_rank}, {win})",
    "get_accumulate": "after_rma(&mark, directions_of({op}), {result_count}, {result_datatype}, {target_rank}, {win})",
    "fetch_and_op": "after_rma(&mark, directions_of({op}), 1, {datatype}, {target_rank}, {win})",
    "compare_and_swap": "after_rma(&mark, puts_data | gets_data, 1, {datatype}, {target_rank}, {win})",
}
_REQUEST = "if (mark.succeeded) add_request(&mark, entry, octant_no_communicator, 0, {request});"

OTHERS: dict[str, tuple[str, str]] = {
    **{name: ("", f"{text};") for name, text in _RMA.items()},
    **{
        f"r{name}": ("", f"struct octant_entry* const entry = {_RMA[name]};\n    {_REQUEST}")
        for name in ("put", "get", "get_accumulate")
    },
    "transfer": (_OWN_STATUS.format(needed="true"), "after_transfer(&mark, {fh}, {status});"),
    "transfer_end": (_OWN_STATUS.format(needed="true"), "after_transfer(&mark, {fh}, {status});"),
    "itransfer": ("", "after_itransfer(&mark, {count}, {datatype}, {fh}, {request});"),
    "transfer_begin": ("", "octant_record(&mark, {owner}, 0);"),
    "none": ("", "octant_record(&mark, {owner}, 0);"),
    "none_request": ("", "struct octant_entry* const entry = octant_record(&mark, {owner}, 0);\n    " + _REQUEST),
    "idup": (
        "",
        "struct octant_entry* const entry = octant_record(&mark, {owner}, 0);\n    " + _REQUEST,
    ),
}

_MADE = "octant_communicator_made(load_object({made}), {parent});"
_DUPLICATED = "octant_communicator_duplicated(load_object({made}), {parent});"
CHANGES: dict[str, tuple[str, str]] = {
    **{
        f"MPI_{name}": ("", _DUPLICATED)
        for name in ("Comm_dup", "Comm_dup_with_info", "Comm_idup", "Comm_idup_with_info")
    },
    **{
        f"MPI_Win_{name}": ("", "octant_window_made(load_object(win), {parent});")
        for name in ("allocate", "allocate_shared", "create", "create_dynamic")
    },
    "MPI_File_open": ("", "octant_file_made(load_pointer(fh), {parent}, (char const*)filename);"),
    "MPI_Comm_free": ("free_communicator(comm);", ""),
    "MPI_Comm_disconnect": ("free_communicator(comm);", ""),
    "MPI_Win_free": ("free_window(win);", ""),
    "MPI_File_close": ("free_file(fh);", ""),
    "MPI_Type_free": ("octant_type_freed(load_object(datatype));", ""),
    "MPI_Comm_set_name": ("", "octant_set_name(octant_communicator_number(comm), (char const*)comm_name);"),
    "MPI_Win_set_name": ("", "octant_set_name(octant_number(win, octant_window), (char const*)win_name);"),
    "MPI_Request_free": ("octant_forget_request(load_object(request));", ""),
    "MPI_Cancel": ("octant_cancel_request(load_object(request));", ""),
    "MPI_Init": ("", "initialized();"),
    "MPI_Init_thread": ("", "initialized();"),
    "MPI_Session_init": ("", "session_made(session);"),
    "MPI_Finalize": ("octant_finalizing();", ""),
    "MPI_Session_finalize": ("octant_session_finalizing();", ""),
    "MPI_Pcontrol": ("octant_pcontrol((int)level);", ""),
}
"""What is executed before, and after the call has succeeded, also while recording is disabled."""


def _value(one: Argument, *, large: bool) -> str:
    if one.array or one.kind in ("BUFFER", "STATUS"):
        return one.name if one.kind == "STATUS" else f"(void const*){one.name}"
    if "NUM_ELEM" in one.kind:
        return f"(uint64_t){one.name}" if large else f"(uint64_t)(int){one.name}"
    if one.kind in ("RANK", "RANK_NNI"):
        return f"(int){one.name}"
    if one.kind == "PARTITION":
        return f"(uint64_t)(int){one.name}"
    return one.name


_FIND = {"COMMUNICATOR": "octant_communicator_number({})", "WINDOW": "octant_number({}, octant_window)",
         "FILE": "octant_number({}, octant_file)"}  # fmt: skip


def _values(call: MpiCall, *, large: bool) -> dict[str, str]:
    given = call.in_c(large=large)
    values = {one.name: _value(one, large=large) for one in given}
    owners = [one for one in given if one.kind in _FIND and one.direction == "in" and not one.array]
    number = _FIND[owners[0].kind].format(owners[0].name) if owners else ""
    made = [one.name for one in given if one.kind == "COMMUNICATOR" and one.direction == "out"]
    return values | {
        "owner": f"mark.succeeded ? {number} : octant_no_communicator" if number else "octant_no_communicator",
        "parent": number or "-1",
        "made": made[0] if made else "",
        "matched": "*(int const*)flag != 0" if call.short == "Improbe" else "true",
        "large": "true" if large else "false",
    }


def _collective(rule: str, values: dict[str, str]) -> str:
    base = rule.removesuffix("_init")
    base = base if base in COLLECTIVES else base.removeprefix("i")
    text = COLLECTIVES[base].format(**values, shape="octant_shape(comm, number)")
    bytes_of = "0" if not text else f"octant_bytes{text}" if text.startswith("(") else f"octant_bytes_{text}"
    lines = ["int const number = mark.succeeded ? octant_communicator_number(comm) : octant_no_communicator;"]
    if rule == base:
        record = f"octant_record(&mark, number, mark.succeeded ? {bytes_of} : 0);"
        if base.startswith("neighbor"):
            return "\n    ".join([*lines, record])
        waiting = "if (OCTANT_UNLIKELY(waited != 0) && entry != NULL) entry->waited += waited;"
        return "\n    ".join([*lines, f"struct octant_entry* const entry = {record}", waiting])
    if rule.endswith("_init"):
        lines += [
            "octant_record(&mark, number, 0);",
            f"if (mark.succeeded) add_persistent(number, 0, {bytes_of}, -1, request);",
        ]
        return "\n    ".join(lines)
    lines += [f"struct octant_entry* const entry = octant_record(&mark, number, mark.succeeded ? {bytes_of} : 0);"]
    return "\n    ".join([*lines, "if (mark.succeeded) add_request(&mark, entry, number, 0, request);"])


def _one_line(text: str) -> str:
    return " ".join(text.split())


def body(call: MpiCall, rule: str | None, *, large: bool, address: str, invocation: str) -> str:
    """Return the body of a wrapper: one macro of `wrappers.c`. `invocation` calls the library."""
    head = f"octant_call_{call.short}, {address}, {invocation}"
    values = _values(call, large=large)
    if call.name in CHANGES or rule in ("object", "idup"):
        first, last = (text.format(**values) for text in CHANGES.get(call.name, ("", _MADE)))
        after = OTHERS["idup" if rule == "idup" else "none"][1].format(**values) if rule else ""
        return _one_line(f"OCTANT_CHANGING({head}, {'true' if rule else 'false'}, {first}, {after}, {last})")
    if rule is None:
        return f"OCTANT_COUNTED({head})"
    if rule in COMPLETIONS:
        before, after = COMPLETIONS[rule]
        return _one_line(f"OCTANT_COMPLETING({head}, {before}, {after})")
    if rule in POINT_TO_POINT or rule in OTHERS:
        before, after = (POINT_TO_POINT | OTHERS)[rule]
        return _one_line(f"OCTANT_TIMED({head}, {before}, {after.format(**values)})")
    if rule in COLLECTIVES and not rule.startswith("neighbor"):
        return _one_line(f"OCTANT_COLLECTIVE({head}, {_collective(rule, values)})")
    return _one_line(f"OCTANT_TIMED({head}, , {_collective(rule, values)})")
