"""Results of the analysis of an MPI profile, as data.

Each class states in `KIND` how its values were obtained:

- *measured*: recorded by the profiler, or a sum or quotient of recorded values;
- *inferred*: follows from recorded values by an assumption that METHOD.md states;
- *modelled*: compares recorded values with a curve of this machine.

Times are in seconds, sizes in bytes, shares between 0 and 1. A value of `None` is not known or not defined.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

if TYPE_CHECKING:
    from octant.profile.job import Communicator, JobProfile, Site
    from octant.stats import Interval

Kind = Literal["measured", "inferred", "modelled"]


@dataclass(frozen=True)
class RankSpread:
    """Distribution of a value over the ranks that could have one; ranks without it count as 0."""

    KIND: ClassVar[Kind] = "measured"
    minimum: float
    mean: float
    maximum: float
    rank_of_maximum: int
    rank_of_minimum: int
    imbalance: float  # maximum / mean; 1: balanced, or the mean is 0
    cov: float  # standard deviation / mean; 0 if the mean is 0


@dataclass(frozen=True)
class RankTotals:
    """One rank."""

    KIND: ClassVar[Kind] = "measured"
    rank: int
    host: str
    state: str  # of `ProcessProfile`
    elapsed_s: float  # from the end of MPI_Init to MPI_Finalize
    threads: int  # that called MPI
    mpi_s: float  # of all threads
    mpi_share: float | None  # mpi_s / (threads × elapsed_s); `None`: counts only, or no elapsed time
    calls: int  # timed and counted
    bytes_sent: int  # sent and put to other ranks or contributed to collectives
    peak_memory_bytes: int | None
    user_s: float | None
    system_s: float | None
    context_switches: int | None
    own_cost_share: float  # estimated cost of recording / (threads × elapsed_s)


@dataclass(frozen=True)
class JobTotals:
    """All ranks together."""

    KIND: ClassVar[Kind] = "measured"
    elapsed_s: float  # of the slowest rank
    mpi_s: float  # sum over ranks and threads
    mpi_share: float | None  # Σ mpi_s / Σ (threads × elapsed_s); `None`: counts only
    mpi_share_of_ranks: RankSpread | None
    calls: int
    bytes_sent: int
    peak_memory_bytes: int | None  # sum of the ranks
    peak_memory_of_ranks: RankSpread | None
    user_s: float | None  # sums
    system_s: float | None
    context_switches: int | None


@dataclass(frozen=True)
class ParallelEfficiency:
    """Factors of the efficiency. Useful time is elapsed time minus MPI time, of each rank and thread."""

    KIND: ClassVar[Kind] = "measured"
    load_balance: float  # mean useful / maximum useful
    communication: float  # maximum useful / elapsed; serialisation and transfer are one factor
    parallel: float  # product
    useful_s: RankSpread


@dataclass(frozen=True)
class CallTotals:
    """All calls of one MPI function."""

    KIND: ClassVar[Kind] = "measured"
    name: str  # "MPI_Send"
    calls: int
    bytes: int
    mean_bytes: float | None  # of calls of functions that transfer data; `None`: no call has bytes, or counts only
    time_s: float  # sum over ranks
    share: float  # of all MPI time
    of_ranks: RankSpread  # of time_s, over all ranks of the job
    calls_of_ranks: RankSpread
    minimum_s: float  # of one call; 0: not timed
    maximum_s: float
    is_timed: bool  # functions that only set up or query are counted without time


@dataclass(frozen=True)
class SiteTotals:
    """All calls of one MPI function from one place in the program, over all communicators and sizes."""

    KIND: ClassVar[Kind] = "measured"
    name: str  # of the call
    site: Site
    site_number: int  # index of `JobProfile.sites`
    calls: int
    bytes: int
    time_s: float
    share: float  # of all MPI time
    of_ranks: RankSpread  # over the ranks that called from here
    ranks: int  # number of these ranks
    minimum_s: float
    maximum_s: float
    communicators: tuple[int, ...]  # indices of `JobProfile.communicators`, the costliest first


@dataclass(frozen=True)
class CollectiveWait:
    """Waiting in one synchronising collective at one call site on one communicator.

    The rank with the least time arrives last; the time of the other ranks above this minimum is waiting. `rank` is
    `None` if no rank is clearly the last (see `waiting.py` for the thresholds), and `waited_s` is then still the
    sum over the ranks of their time above the minimum, as an upper bound. If the waiting is measured, `waited_s` is the
    sum over all ranks, and `least_s` and `next_s` are waiting, too.
    """

    KIND: ClassVar[Kind] = "inferred"
    name: str  # of the call
    site: Site
    site_number: int
    communicator: Communicator
    communicator_number: int
    calls: int  # of one rank
    ranks: int  # that took part
    rank: int | None  # that the others wait for
    waited_s: float  # of the others
    share: float  # waited_s / all MPI time
    time_s: float  # of all ranks here
    least_s: float  # time of the rank with the least time
    next_s: float  # second-least time
    longest_s: float  # the longest single call of any rank
    basis: Kind = "inferred"  # "measured": in a barrier before each call, see `waits` of ProgramProfile

    @property
    def is_one_event(self) -> bool:
        """Whether one call has half of the waiting of an average rank, so that the rank was late once, not usually."""
        return self.ranks > 1 and self.longest_s >= self.waited_s / (self.ranks - 1) / 2


@dataclass(frozen=True)
class SiteOverlap:
    """Requests started at one call site: how much of their time in flight was not waiting."""

    KIND: ClassVar[Kind] = "measured"
    name: str
    site: Site
    site_number: int
    calls: int
    bytes: int
    in_flight_s: float
    waited_s: float  # in Wait and Test calls of any site
    overlap: float  # (in_flight_s - waited_s) / in_flight_s, 0 to 1


@dataclass(frozen=True)
class SizeBucket:
    """Calls with at least `first` and at most `last` bytes; 0 and 0: calls without bytes."""

    KIND: ClassVar[Kind] = "measured"
    number: int  # `bucket` of `CALLS`
    first: int
    last: int
    calls: int
    bytes: int
    time_s: float


@dataclass(frozen=True)
class SizeDistribution:
    """Sizes of the calls of one function, or of all; buckets between the smallest and largest without gaps."""

    KIND: ClassVar[Kind] = "measured"
    name: str  # "": all calls that transfer data
    buckets: tuple[SizeBucket, ...]


@dataclass(frozen=True, eq=False)
class CommunicationMatrix:
    """Messages between ranks; row: the rank that sends. Large jobs are summarised in blocks of consecutive ranks.

    Element (i, j) sums the messages from ranks of block i to ranks of block j. Data moved by MPI_Get flow from the
    peer, so they are in the peer's row. Collectives are not included.
    """

    KIND: ClassVar[Kind] = "measured"
    ranks: int  # of the job
    block: int  # ranks per row and column; 1: not summarised
    messages: np.ndarray  # int64, (rows, rows)
    bytes: np.ndarray
    unassigned_messages: int = 0  # to peers that the tables had no room for
    unassigned_bytes: int = 0
    received_bytes: int = 0  # by receives; may differ from the sent bytes if ranks are missing
    peers_of_rank: RankSpread | None = None  # number of ranks that a rank sends to

    @property
    def starts(self) -> tuple[int, ...]:
        """The first rank of each row."""
        return tuple(range(0, self.ranks, self.block))


@dataclass(frozen=True)
class CommunicatorTotals:
    """Calls on one communicator, window or file."""

    KIND: ClassVar[Kind] = "measured"
    communicator: Communicator
    communicator_number: int
    calls: int
    bytes: int
    time_s: float
    share: float  # of all MPI time
    ranks: int  # that called


@dataclass(frozen=True)
class CommunicatorSizeTotals:
    """Calls on all communicators of one kind and size."""

    KIND: ClassVar[Kind] = "measured"
    size: int
    kind: str
    communicators: int
    calls: int
    bytes: int
    time_s: float
    share: float


@dataclass(frozen=True)
class RegionTotals:
    """A node of the tree of regions."""

    KIND: ClassVar[Kind] = "measured"
    number: int  # index of `JobProfile.regions`
    parent: int  # -1: none
    name: str
    path: str  # names from the root, joined with "/"
    depth: int  # 0: the whole program
    visits: int  # sum over ranks
    time_s: RankSpread  # nested regions included, over the ranks that entered it
    mpi_s: RankSpread
    mpi_share: float | None  # Σ mpi_s / Σ time_s
    ranks: int  # that entered it
    calls: int  # MPI calls of the region itself, without nested regions
    bytes: int


@dataclass(frozen=True)
class ExcessRow:
    """Time of point-to-point calls of one size above the measured curve of this machine.

    Sends and receives of a size are taken together, because a blocking receive also waits for its sender.
    """

    KIND: ClassVar[Kind] = "modelled"
    first: int  # bytes
    last: int
    names: tuple[str, ...]  # of the calls
    messages: int
    time_s: float  # of the calls, with the waiting for their requests
    expected_s: float  # from the curve at the mean size
    excess_s: float  # max(0, time_s - expected_s)
    is_extrapolated: bool  # the size is outside the measured lengths


@dataclass(frozen=True)
class ExcessCall:
    """Excess time of one function, its share of each size by time."""

    KIND: ClassVar[Kind] = "modelled"
    name: str
    time_s: float
    expected_s: float
    excess_s: float


@dataclass(frozen=True)
class ExcessTime:
    """How much longer point-to-point calls took than the measured curve of this machine."""

    KIND: ClassVar[Kind] = "modelled"
    rows: tuple[ExcessRow, ...] = ()
    calls: tuple[ExcessCall, ...] = ()  # the largest excess first
    excess_s: float = 0.0
    share: float = 0.0  # of all MPI time
    curve: str = ""  # "run 12, mpi/p2p, Open MPI 4.1.4"; "": no curve
    eager_limit: int | None = None  # bytes; of the curve's change of protocol
    rendezvous_from: int | None = None  # bytes; the shortest measured message of the next protocol
    reason: str = ""  # why there is no excess, one sentence; "": there is
    command: str = ""  # that measures the curve


@dataclass(frozen=True)
class ProfileReliability:
    """How much of the truth the profile contains."""

    KIND: ClassVar[Kind] = "measured"
    own_cost_share: float  # calls × calibrated cost / (threads × elapsed), of the job
    own_cost_of_worst: float  # of the rank with the largest share
    worst_rank: int | None
    lost_calls: int  # calls without site and size
    lost_calls_share: float
    lost_requests: int
    missing: tuple[int, ...]  # ranks without a table
    killed: tuple[int, ...]  # ranks whose process ended before MPI_Finalize
    is_complete: bool
    is_counts_only: bool
    has_sites: bool
    oversubscription: float | None  # MPI threads per hardware thread, on the worst host; `None`: not known
    problems: tuple[str, ...]  # of `JobProfile`, one sentence each

    @property
    def is_reliable(self) -> bool:
        """Whether the profile is complete and nothing in it was lost."""
        return self.is_complete and not (self.lost_calls or self.lost_requests or self.problems)


@dataclass(frozen=True)
class RepeatedValue:
    """A value in each launch."""

    KIND: ClassVar[Kind] = "measured"
    name: str  # "elapsed", "MPI time", "MPI share", or the name of a call: its time over all ranks
    unit: str  # "s" or "1"
    values: tuple[float, ...]  # of each launch, this one first
    interval: Interval | None  # 95 % interval for the median over launches; `None`: fewer than three


@dataclass(frozen=True)
class ChangedCount:
    """A call whose number of calls or bytes differs between launches, e.g. because the program polls."""

    KIND: ClassVar[Kind] = "measured"
    name: str
    what: Literal["calls", "bytes"]
    least: int
    most: int
    is_polling: bool  # a Test or Probe call: its number depends on time


@dataclass(frozen=True)
class LaunchComparison:
    """What several launches of the same program have in common."""

    KIND: ClassVar[Kind] = "measured"
    launches: int
    values: tuple[RepeatedValue, ...] = ()
    changed: tuple[ChangedCount, ...] = ()
    late: int | None = (
        None  # launches in which the rank that is waited for most is named; `None`: none is, or one launch
    )


@dataclass(frozen=True)
class Headline:
    """Parts of the sentence on the first screen.

    "61 % of the time is MPI; 44 % of that is waiting for rank 3 in one Allreduce at solver.f90:212".
    """

    mpi_share: float | None  # measured; `None`: counts only
    waiting: CollectiveWait | None  # inferred; the largest one with a late rank, if it is most of the costliest part
    waiting_share: float  # of MPI time; 0: none
    costliest: SiteTotals | None  # measured; the call site with the most time; if counts only, with the most calls


@dataclass(frozen=True)
class Analysis:
    """Everything that follows from the profile of one launch, and from further launches of the same request."""

    job: JobProfile
    head: Headline
    total: JobTotals
    ranks: tuple[RankTotals, ...]  # by rank; ranks without a table are not included
    efficiency: ParallelEfficiency | None  # `None`: counts only, or no time
    calls: tuple[CallTotals, ...]  # timed calls by time, then counted calls by number
    sites: tuple[SiteTotals, ...]  # likewise
    waits: tuple[CollectiveWait, ...]  # all synchronising collectives, the most waiting first; empty: counts only
    waited_s: float  # sum over `waits` with a late rank, or over all if they are measured
    overlaps: tuple[SiteOverlap, ...]  # the most waiting first
    sizes: SizeDistribution  # of all calls that transfer data
    sizes_of_calls: tuple[SizeDistribution, ...]  # of the calls with the most time; empty: counts only
    matrix: CommunicationMatrix | None  # `None`: no messages between ranks
    communicators: tuple[CommunicatorTotals, ...]  # the costliest first
    communicator_sizes: tuple[CommunicatorSizeTotals, ...]
    regions: tuple[RegionTotals, ...]  # in the order of the tree, parents first; empty if there is only the program
    one_sided: tuple[CallTotals, ...]
    files: tuple[CallTotals, ...]  # MPI-IO
    excess: ExcessTime
    reliability: ProfileReliability
    repeats: LaunchComparison = field(default_factory=lambda: LaunchComparison(1))

    @property
    def waiting_basis(self) -> Kind:
        """How the waiting in collectives was obtained."""
        return self.waits[0].basis if self.waits else "inferred"

    @property
    def is_counts_only(self) -> bool:
        """Whether calls were counted without times, so that no statement about time is possible."""
        return self.reliability.is_counts_only
