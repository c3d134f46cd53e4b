"""The communication matrix: sums of rows are what ranks sent, at any number of ranks."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octant.profile.job import GOT, PUT, RECEIVED, SENT
from octant.profile.matrix import MAX_ROWS, communication_matrix, messages_between
from profile_jobs import MadeProfile

MESSAGES = st.lists(
    st.tuples(
        st.integers(0, 299), st.integers(-1, 299), st.sampled_from((SENT, PUT, GOT)), st.integers(1, 99),
        st.integers(0, 1 << 40),
    ),
    min_size=1,
    max_size=60,
)  # fmt: skip


@given(MESSAGES, st.integers(1, 300))
def test_sums_of_rows_are_the_bytes_sent(rows: list[tuple[int, int, int, int, int]], ranks: int) -> None:
    made = MadeProfile(ranks)
    made.peers = [(rank % ranks, min(peer, peer % ranks), *rest) for rank, peer, *rest in rows]
    matrix = communication_matrix(made.job())
    assert matrix is not None
    assert len(matrix.bytes) == len(matrix.starts) <= MAX_ROWS
    assert (matrix.block == 1) == (ranks <= MAX_ROWS)
    sent = np.zeros(len(matrix.starts), np.int64)
    for rank, peer, kind, _, size in made.peers:
        if peer >= 0:
            sent[(peer if kind == GOT else rank) // matrix.block] += size
    assert (matrix.bytes.sum(axis=1) == sent).all()
    assert matrix.bytes.sum() + matrix.unassigned_bytes == sum(one[4] for one in made.peers)
    assert matrix.messages.sum() + matrix.unassigned_messages == sum(one[3] for one in made.peers)


def test_receives_are_not_counted_twice_and_replace_missing_senders() -> None:
    made = MadeProfile(3)
    made.peers = [(0, 1, SENT, 5, 500), (1, 0, RECEIVED, 5, 500), (1, 2, RECEIVED, 3, 30), (2, 1, SENT, 3, 30)]
    job = made.job()
    matrix = communication_matrix(job)
    assert matrix is not None
    assert matrix.bytes.tolist() == [[0, 500, 0], [0, 0, 0], [0, 30, 0]]
    assert matrix.received_bytes == 530
    without = replace(job, processes=job.processes[:2], missing=(2,), peers=job.peers[:3])
    incomplete = communication_matrix(without)
    assert incomplete is not None
    assert incomplete.bytes.tolist() == matrix.bytes.tolist()


def test_pairs_are_listed_once() -> None:
    made = MadeProfile(4)
    made.peers = [(0, 3, SENT, 1, 10), (0, 3, PUT, 2, 20), (3, 0, GOT, 4, 40), (1, 0, SENT, 1, 0)]
    found = messages_between(made.job())
    assert found.sources.tolist() == [0, 1]
    assert found.targets.tolist() == [3, 0]
    assert found.messages.tolist() == [7, 1]
    assert found.bytes.tolist() == [70, 0]


def test_the_number_of_partners_does_not_include_the_rank_itself() -> None:
    made = MadeProfile(3)
    made.peers = [(0, 0, SENT, 1, 1), (0, 1, SENT, 1, 1), (0, 2, SENT, 1, 1), (1, 0, SENT, 1, 1)]
    matrix = communication_matrix(made.job())
    assert matrix is not None
    assert matrix.peers_of_rank is not None
    assert (matrix.peers_of_rank.maximum, matrix.peers_of_rank.mean) == (2, 1)


@pytest.mark.parametrize("ranks", [1, 8])
def test_there_is_no_matrix_without_messages(ranks: int) -> None:
    made = MadeProfile(ranks)
    made.add(0, "MPI_Barrier")
    assert communication_matrix(made.job()) is None
