"""Made profiles: rows of calls with the processes that fit them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from octant.profile.job import CALLS, PEERS, REGION_TIMES, Communicator, JobProfile, ProcessProfile, Region, Site

WORLD = Communicator("MPI_COMM_WORLD", 4)


@dataclass
class MadeProfile:
    """Collects rows and makes a job of them."""

    ranks: int = 4
    elapsed_s: float = 10.0
    calls: list[tuple[float, ...]] = field(default_factory=list)
    peers: list[tuple[int, ...]] = field(default_factory=list)
    region_times: list[tuple[float, ...]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    communicators: list[Communicator] = field(default_factory=list)
    regions: list[Region] = field(default_factory=lambda: [Region("program")])

    def add(
        self,
        rank: int,
        name: str,
        calls: int = 1,
        size: int = 0,
        time_s: float = 0.0,
        site: int = 0,
        communicator: int = 0,
        region: int = 0,
        thread: int = 0,
        waited_s: float = 0.0,
        in_flight_s: float = 0.0,
    ) -> None:
        """Add calls of one rank from one place; `size` is that of one call."""
        if name not in self.names:
            self.names.append(name)
        one = time_s / calls if calls else 0.0
        self.calls.append(
            (
                rank, thread, self.names.index(name), site, communicator, region, size.bit_length(), calls,
                size * calls, time_s, waited_s, in_flight_s, one, one,
            )
        )  # fmt: skip

    def job(self, **changed: object) -> JobProfile:
        """Return the job; its processes have the time of their calls.

        Args:
            changed: fields of the job that differ.
        """
        calls = np.array(self.calls, CALLS)
        processes = tuple(self.process(rank, calls) for rank in range(self.ranks))
        most = int(calls["site"].max(initial=0)) + 1
        sites = [*self.sites, *(Site("/opt/app", 16 * n, f"function_{n}", "app.c", n) for n in range(most))][:most]
        worlds = self.communicators or [Communicator("MPI_COMM_WORLD", self.ranks)]
        values = {
            "ranks": self.ranks, "processes": processes, "call_names": tuple(self.names), "sites": tuple(sites),
            "communicators": tuple(worlds), "regions": tuple(self.regions), "calls": calls,
            "peers": np.array(self.peers, PEERS), "region_times": np.array(self.region_times, REGION_TIMES),
            **changed,
        }  # fmt: skip
        return JobProfile(**values)  # type: ignore[arg-type]

    def process(self, rank: int, calls: np.ndarray) -> ProcessProfile:
        """Return the process of one rank."""
        own = calls[calls["rank"] == rank]
        threads = max(1, len(np.unique(own["thread"])))
        return ProcessProfile(
            rank, f"host{rank // 8}", 100 + rank, "finalized", self.elapsed_s, threads, float(own["time_s"].sum()),
            1e-8 * float(own["calls"].sum()), 1.5e-8, peak_memory_bytes=(rank + 1) << 20, user_s=8.0, system_s=1.0,
            context_switches=10 * rank,
        )  # fmt: skip
