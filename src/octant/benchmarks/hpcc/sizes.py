"""The sizes of HPC Challenge: all follow from N, the order of HPL's matrix, and the number of ranks.

Source: HPCC 1.5, whose measure is M = 8 N² / P, the bytes that HPL's matrix takes in each of P processes.
"""

import math
from dataclasses import dataclass

from octant.benchmarks import requests
from octant.failure import Exit, Refusal
from octant.units import bytes_text

BLOCK = 64
"""Orders that are chosen here are a multiple of it: the usual blocks of HPL divide them or leave little."""
FULL_SHARE = 0.8
"""Of memory: the least that an official run's matrix takes."""
AVAILABLE_SHARE = 0.9
"""Of the memory that others leave: the rest is for libraries and messages."""
QUICK_RANK_BYTES = 192 << 20
"""Of the matrix in each rank of a quick run: its vectors and tables exceed a core's share of the caches."""
QUICK_SHARE = 0.125
MOST_PAIRS = 28
"""Pairs of ranks whose messages are measured one after the other: all of eight ranks."""
_PRIMES = (2, 3, 5)


@dataclass(frozen=True)
class HpccSizes(requests.Sizes):
    """Sizes of every test; lengths are in elements where their name does not say bytes."""

    hpl_n: int

    @property
    def label(self) -> str:
        """What `--size` says of them."""
        return f"hpl:{self.hpl_n}"

    @property
    def matrix_bytes(self) -> int:
        """HPL's matrix, in all ranks together."""
        return 8 * self.hpl_n**2

    @property
    def rank_bytes(self) -> int:
        """HPL's matrix in each rank: HPCC's measure of memory."""
        return self.matrix_bytes // self.ranks

    @property
    def dgemm_n(self) -> int:
        """Order of the three matrices that fill a rank's share."""
        return max(1, math.floor(math.sqrt(self.rank_bytes // 8 // 3 + 0.25) - 0.5))

    @property
    def stream_length(self) -> int:
        """Elements of each of the three vectors that fill a rank's share."""
        return max(128, self.rank_bytes // 8 // 3)

    @property
    def stream_two_bytes(self) -> int:
        """Of the two vectors that copy and scale use."""
        return 16 * self.stream_length

    @property
    def stream_three_bytes(self) -> int:
        """Of the three vectors that add and triad use."""
        return 24 * self.stream_length

    @property
    def table_bytes(self) -> int:
        """Of a rank's own table of random updates: a power of two, more than half of its share."""
        return 8 * _power_of_two(self.rank_bytes // 8)

    @property
    def mpi_table_bytes(self) -> int:
        """Of the table of all ranks: a power of two, more than half of the matrix."""
        return 8 * _power_of_two(self.ranks * self.rank_bytes // 8)

    @property
    def fft_n(self) -> int:
        """Complex numbers of a rank's own transform: a power of two, in and out at most a rank's share."""
        return _power_of_two(self.rank_bytes // 16 // 2)

    @property
    def gfft_ranks(self) -> int:
        """As many ranks as take part in the transform of all: the greatest 2^i 3^j 5^k."""
        return next(count for count in range(self.ranks, 0, -1) if _is_smooth(count))

    @property
    def gfft_n(self) -> int:
        """Complex numbers of the transform of all ranks: P² times a power of two, four vectors at most their share."""
        count = self.gfft_ranks
        share = self.matrix_bytes // count
        return count * count * _power_of_two(share // 16 // (4 * count))

    @property
    def ptrans_n(self) -> int:
        """Order of the matrix that is transposed."""
        return max(1, self.hpl_n // 2)

    @property
    def ptrans_bytes(self) -> int:
        """Of the matrix that ranks of a node share: the one that is transposed."""
        return 8 * self.ptrans_n**2

    @property
    def gfft_shared_bytes(self) -> int:
        """Of the three vectors that ranks of a node share."""
        return 3 * 16 * self.gfft_n

    @property
    def pairs(self) -> str:
        """Pairs of ranks, one at a time; of many, every so-manieth, as HPCC takes them by a stride."""
        every = [(a, b) for a in range(min(self.ranks, 1000)) for b in range(a + 1, min(self.ranks, 1000))]
        stride = -(-len(every) // MOST_PAIRS) or 1
        return ",".join(f"{a}+{b}" for a, b in every[::stride])


def choose(size: str, quick: bool, ranks: int, memory_bytes: int, available_bytes: int) -> tuple[HpccSizes, list[str]]:
    """Return the sizes of a run, and why they are smaller than its rule asks for, if they are.

    Args:
        size: `hpl:N`; "": by rule.
        memory_bytes: of all nodes together; `available_bytes`: of it, what others leave.

    Raises:
        Refusal: see `read_order`.
    """
    if size:
        return HpccSizes(ranks, read_order(size, memory_bytes)), []
    order = quick_order(ranks, memory_bytes) if quick else full_order(memory_bytes)
    if (left := full_order(memory_bytes, available_bytes)) >= order:
        return HpccSizes(ranks, order), []
    rule = "a quick run has" if quick else "HPCC's rules ask for"
    why = f"{bytes_text(available_bytes)} of {bytes_text(memory_bytes)} of memory are available"
    return HpccSizes(ranks, left), [f"N is {left} where {rule} {order}: {why}"]


def quick_order(ranks: int, memory_bytes: int) -> int:
    """N of a quick run: 192 MiB of the matrix in each rank, at most an eighth of memory."""
    return _order(min(ranks * QUICK_RANK_BYTES, int(QUICK_SHARE * memory_bytes)))


def full_order(memory_bytes: int, available_bytes: int | None = None) -> int:
    """N of a full run: HPL's matrix takes four fifths of memory, the least that HPCC's rules allow.

    Args:
        available_bytes: of it, what others leave; the matrix takes at most nine tenths of that.
    """
    left = memory_bytes if available_bytes is None else int(AVAILABLE_SHARE * available_bytes)
    return _order(min(int(FULL_SHARE * memory_bytes), left))


def read_order(text: str, memory_bytes: int) -> int:
    """N of `hpl:N`.

    Args:
        memory_bytes: of all nodes of the run together.

    Raises:
        Refusal: no such size, or a matrix that is larger than memory, with the bytes that it would take.
    """
    number = text.removeprefix("hpl:")
    if number == text or not (number.isascii() and number.isdigit()) or not 1 <= len(number) <= 9 or int(number) < 1:
        raise Refusal(f"cannot read --size {text[:60]!r} (not of the form hpl:N); try --size hpl:8192", Exit.WRONG_WORD)
    order = int(number)
    if (bytes_asked := 8 * order**2) > memory_bytes:
        why = f"its matrix takes {bytes_text(bytes_asked)} of {bytes_text(memory_bytes)} of memory"
        raise Refusal(
            f"cannot measure with N = {order} ({why}); try --size hpl:{full_order(memory_bytes)}", Exit.NOT_SUPPORTED
        )
    return order


def _order(matrix_bytes: int) -> int:
    return max(BLOCK, math.isqrt(matrix_bytes // 8) // BLOCK * BLOCK)


def _power_of_two(most: int) -> int:
    """The greatest power of two that is not above; at least 1."""
    return 1 << max(0, most.bit_length() - 1)


def _is_smooth(number: int) -> bool:
    for prime in _PRIMES:
        while number % prime == 0:
            number //= prime
    return number == 1
