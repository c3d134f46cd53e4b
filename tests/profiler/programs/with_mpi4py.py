"""Messages and collectives of mpi4py, which calls the variants with large counts, and callbacks in MPI_Finalize."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

WORLD = MPI.COMM_WORLD
LINES: list[str] = []


def note(call: str, amount: int = 0) -> None:
    """A call, with its bytes and without its place: the place is in mpi4py."""
    LINES.append(json.dumps({"call": f"MPI_{call}", "bytes": amount}))


def message(kind: str, peer: int, amount: int) -> None:
    """A message."""
    LINES.append(json.dumps({"kind": kind, "peer": peer, "bytes": amount}))


def buffers(partner: int) -> None:
    """Messages and collectives of arrays."""
    values, others = np.zeros(8), np.zeros(8)
    for _ in range(100):
        requests = [WORLD.Irecv(others, partner), WORLD.Isend(values, partner)]
        MPI.Request.Waitall(requests)
        note("Irecv", 64)
        note("Isend", 64)
        note("Waitall")
        message("received", partner, 64)
        message("sent", partner, 64)
        WORLD.Allreduce(values, others)
        note("Allreduce", 64)
    WORLD.Allgather(MPI.IN_PLACE, np.zeros(2 * WORLD.size))
    note("Allgather", 16)
    WORLD.Allreduce(MPI.IN_PLACE, values)
    note("Allreduce", 64)
    WORLD.Barrier()
    note("Barrier")
    WORLD.Send(values, MPI.PROC_NULL)
    note("Send")


def objects(partner: int) -> None:
    """Messages of pickled objects."""
    thing = {"rank": [1, 2, 3]}
    amount = len(MPI.pickle.dumps(thing))
    if WORLD.rank % 2 == 0:
        WORLD.send(thing, partner)
        note("Send", amount)
        message("sent", partner, amount)
    else:
        assert WORLD.recv(source=partner) == thing
        note("Mprobe")
        note("Mrecv", amount)
        message("received", partner, amount)


def callbacks() -> None:
    """An attribute of MPI_COMM_SELF whose deletion, in MPI_Finalize, calls MPI."""

    def delete(_communicator: MPI.Comm, _key: int, value: Any) -> None:
        WORLD.Get_size()
        np.frombuffer(value)

    key = MPI.Comm.Create_keyval(delete_fn=delete)
    MPI.COMM_SELF.Set_attr(key, bytes(8))
    note("Comm_set_attr")


def main() -> int:
    """Write the truth of this rank."""
    partner = WORLD.rank ^ 1
    buffers(partner)
    objects(partner)
    callbacks()
    if "TRUTH" in os.environ:
        Path(os.environ["TRUTH"], f"rank-{WORLD.rank}").write_text("\n".join(LINES), encoding="utf-8")
    if WORLD.rank == 0:
        print("done")
    return 3


if __name__ == "__main__":
    sys.exit(main())
