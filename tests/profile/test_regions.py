"""The tree of regions: order, paths, and times of the ranks that entered."""

from octant.profile.job import Region
from octant.profile.regions import region_totals
from profile_jobs import MadeProfile


def made_regions() -> MadeProfile:
    made = MadeProfile(3)
    made.regions = [Region("program"), Region("solve", 0), Region("output", 0), Region("exchange", 1)]
    made.add(0, "MPI_Send", 2, 10, 1.0, region=3)
    made.add(1, "MPI_Send", 3, 10, 2.0, region=1)
    made.region_times = [(0, 1, 5, 4.0, 1.0), (1, 1, 5, 6.0, 2.0), (2, 1, 5, 5.0, 0.0), (0, 3, 10, 2.0, 1.0)]
    return made


def test_parents_are_before_their_children() -> None:
    found = region_totals(made_regions().job())
    assert [(one.path, one.depth) for one in found] == [
        ("program", 0),
        ("solve", 1),
        ("solve/exchange", 2),
        ("output", 1),
    ]


def test_times_are_those_of_the_ranks_that_entered() -> None:
    found = {one.name: one for one in region_totals(made_regions().job())}
    solve, exchange, output = found["solve"], found["exchange"], found["output"]
    assert (solve.visits, solve.ranks, solve.time_s.mean, solve.time_s.maximum) == (15, 3, 5.0, 6.0)
    assert (solve.time_s.rank_of_maximum, solve.mpi_share) == (1, 0.2)
    assert (exchange.visits, exchange.ranks, exchange.time_s.mean, exchange.mpi_share) == (10, 1, 2.0, 0.5)
    assert (output.visits, output.ranks, output.mpi_share) == (0, 0, None)


def test_calls_are_those_of_the_region_itself() -> None:
    found = {one.name: one for one in region_totals(made_regions().job())}
    assert {name: (one.calls, one.bytes) for name, one in found.items()} == {
        "program": (0, 0),
        "solve": (3, 30),
        "exchange": (2, 20),
        "output": (0, 0),
    }


def test_the_whole_program_has_the_times_of_the_processes() -> None:
    program = region_totals(made_regions().job())[0]
    assert (program.time_s.mean, program.ranks) == (10.0, 3)
    assert program.mpi_share == 3.0 / 30.0


def test_without_named_regions_there_is_no_tree() -> None:
    made = MadeProfile(3)
    made.add(0, "MPI_Send")
    assert region_totals(made.job()) == ()
