"""Examples of every command: `--help` and README show them, and a test parses them."""

from __future__ import annotations

from typing import NamedTuple

from octant.benchmarks import benchmarks


class Example(NamedTuple):
    """A complete command line and its explanation."""

    line: str
    gives: str


class WayIn(NamedTuple):
    """First commands for a group of users."""

    who: str
    examples: tuple[Example, Example, Example]


WAYS_IN = (
    WayIn(
        "To accept or check a machine",
        (
            Example("octant doctor", "is this machine fit for it?"),
            Example("octant evaluate", "measure it and write a report"),
            Example("octant compare --gate", "measure again; exit 5 if slower"),
        ),
    ),
    WayIn(
        "To tune a program",
        (
            Example("octant where --ranks 2 -- ./program", "show its threads and memory"),
            Example("octant place --place 2x1 --for slurm", "print options for your launcher"),
            Example("octant settings MP_EAGER_LIMIT", "find the current setting"),
        ),
    ),
    WayIn(
        "To study and publish",
        (
            Example("octant study list", "list questions"),
            Example("octant study run page-size", "answer one on this machine"),
            Example("octant export last --to csv", "write the figures as CSV"),
        ),
    ),
    WayIn(
        "To plan a network",
        (
            Example("octant model list", "list the networks of Octant"),
            Example("octant model explain bgp -t random", "show the limiting link"),
            Example("octant model report power775 -t ptrans", "write a page"),
        ),
    ),
)
"""Three first commands for each of four groups of users, in README and `octant --help`."""

_OF_COMMANDS = {
    "evaluate": (
        Example("octant evaluate", "quick suite: table and report"),
        Example("octant evaluate --full", "more sizes and launches: about an hour"),
        Example("octant evaluate --only stream --notes", "one workload, with all notes"),
    ),
    "run": (
        Example("octant run stream bytes=L2/2,1GiB pages=base,thp", "all combinations; L2/2: half of an L2 cache"),
        Example("octant run stream --launcher sbatch --script job.sh", "write a batch job to submit later"),
        Example("octant run -- ./app input.nml", "your own program: time, memory, lost time"),
        Example(
            "octant run n=1,2 --value 't[s]=time = (.*)' -- ./app {n}",
            "two parameter values, and a time from the output",
        ),
    ),
    "resume": (
        Example("octant resume", "resume the last run"),
        Example("octant resume last --timeout 60", "with a timeout of one minute per launch"),
    ),
    "runs": (
        Example("octant runs", "list the runs in ./octant-store, oldest first"),
        Example("octant runs --store ~/measured", "list the runs of another store"),
    ),
    "workloads": (
        Example("octant workloads", "list all workloads"),
        Example("octant workloads memory bandwidth", "list those that contain both words"),
        Example("octant workloads stream", "show description, metrics, limits and knobs"),
    ),
    "profile": (
        Example("octant profile -- mpiexec -n 8 ./app", "record the MPI calls of a program, and show them"),
        Example("octant profile --cost -- mpiexec -n 2 ./app", "measure the overhead of the recording"),
        Example("octant profile report", "show the profile of the last run"),
    ),
    "profile report": (
        Example("octant profile report", "show the last profile and write its page"),
        Example("octant profile report last --json", "the same as JSON"),
    ),
    "report": (
        Example("octant report", "show the last run and write its HTML report"),
        Example("octant report --notes", "print every caveat; figures marked ! or × are not reliable"),
        Example("octant report --pictures", "also draw the charts in the terminal"),
        Example("octant report previous --share -o ours.html", "remove user, host and file names"),
    ),
    "compare": (
        Example("octant compare", "compare the last run with the one before"),
        Example("octant compare --rounds 6 previous last", "measure both again in paired rounds"),
        Example("octant compare --gate --until-sure", "exit 5 on a regression, stop early"),
        Example(
            "octant compare -- ./app -- env GLIBC_TUNABLES=glibc.malloc.hugetlb=1 ./app",
            "measure two programs in paired rounds: here with base pages and huge pages",
        ),
    ),
    "history": (
        Example("octant history", "list the figures that were measured several times"),
        Example("octant history triad bytes=1GiB", "one figure over time, and whether it has a step"),
        Example("octant history Memory --confirm", "measure again to confirm a possible step"),
    ),
    "export": (
        Example("octant export", "one CSV row per metric of every figure"),
        Example("octant export last --samples -o samples.csv", "one row per sample"),
        Example("octant export previous --to parquet -o run.parquet", "for pandas, DuckDB and similar tools"),
    ),
    "import": (
        Example("octant import imb imb.txt", "import output of the Intel MPI Benchmarks"),
        Example("octant import imb imb.txt imb-2.txt --machine ours", "two files, each is one launch"),
        Example("octant import osu osu.txt --ranks 64", "state the number of ranks, if the file does not"),
    ),
    "machine": (
        Example("octant machine", "show this machine"),
        Example("octant machine --measured", "show size, bandwidth and latency of L1, L2, L3 and memory"),
        Example("octant machine --record here", "record this machine in a directory"),
        Example("octant machine --beside power575", "compare with a published machine"),
    ),
    "doctor": (
        Example("octant doctor", "noise test, findings and verdict"),
        Example("octant doctor --static", "without the noise test"),
        Example("octant doctor --explain governor", "describe one rule"),
    ),
    "settings": (
        Example("octant settings I_MPI_FABRICS=shm:dapl", "check a current variable and its value"),
        Example("octant settings MP_EAGER_LIMIT", "find the replacement of an old variable"),
        Example("octant settings eager limit --library mpich", "search the settings of the installed MPICH"),
        Example("octant settings --check MPIR_CVAR_NOLOCL=1", "detect a misspelt name"),
    ),
    "place": (
        Example("octant place --place 2x1,order=scatter", "draw two ranks that are far apart"),
        Example("octant place --place 2x1 --for slurm,openmpi", "print options for two launchers"),
        Example(
            "octant place --place 4x1,order=scatter --on 'pack:2 core:8 pu:1' --for slurm",
            "for a machine with two packages",
        ),
        Example("octant place --from 'srun -n 2 -c 1 ./program'", "show what these options do on this machine"),
    ),
    "where": (
        Example("octant where -- ./program", "show where its threads ran and its memory is"),
        Example("octant where --place 2x1 -- ./program", "apply a placement and verify it"),
        Example("octant where --pages -- ./program", "also show the page sizes of its memory"),
    ),
    "bind": (
        Example("octant bind --place 2x1", "print the command prefix"),
        Example("octant bind --place 2x1,memory=local", "with memory local to each rank"),
    ),
    "catalogue": (
        Example("octant catalogue", "show the number of entries of each kind"),
        Example("octant catalogue findings", "list published findings"),
        Example("octant catalogue findings memory bandwidth", "list those that contain both words"),
        Example("octant catalogue machines power575", "show one entry with its source"),
    ),
    "study": (
        Example("octant study list", "list the studies of Octant"),
        Example("octant study run page-size", "measure, then print verdicts"),
        Example("octant study show page-size", "show the file to copy for your own study"),
        Example("octant study report gups-scaling", "answered by the network model"),
    ),
    "study list": (
        Example("octant study list", "list names, findings and questions"),
        Example("octant study list memory bandwidth", "list those that contain both words"),
        Example("octant study list --json", "the same as JSON"),
    ),
    "study show": (
        Example("octant study show page-size", "show the question, what is testable here, and the study file"),
        Example("octant study show ./mine.toml", "check your own study file, a changed copy of such a file"),
    ),
    "study run": (
        Example("octant study run page-size", "measure here and compare with published results"),
        Example("octant study run page-size --repeats 12", "more launches give narrower intervals"),
        Example("octant study run smt-kernels --anyway", "measure the values although this machine can decide no test"),
        Example("octant study run ./mine.toml --seed 1", "your own study, in a reproducible order"),
    ),
    "study report": (
        Example("octant study report page-size", "show the last run of that study"),
        Example("octant study report gups-scaling -o gups.html", "write an HTML page"),
    ),
    "model": (
        Example("octant model scale power775 -t randomaccess --sizes 1,24,25", "rate by size, with published values"),
        Example("octant model explain bgp -t random", "limiting link and next limit"),
        Example("octant model collective bgp allreduce --sizes 8:1MiB", "find the fastest algorithm"),
    ),
    "model list": (
        Example("octant model list", "list names, shapes, sizes and routings"),
        Example("octant model list torus", "list those that contain this word"),
        Example("octant model list --json", "the same as JSON"),
    ),
    "model show": (
        Example("octant model show bgp", "show nodes, switches, cables and the network file"),
        Example("octant model show dragonfly-example", "show the file to copy for a network of another size"),
        Example("octant model show examples/networks/fabric.ibnet", "show the devices of an InfiniBand fabric"),
    ),
    "model scale": (
        Example("octant model scale power775 -t randomaccess --sizes 1,24,25", "sizes in supernodes"),
        Example("octant model scale dragonfly-example --sizes 9:33:8", "from 9 to 33 groups in steps of 8"),
    ),
    "model solve": (
        Example("octant model solve bgp -t shift -p 21", "shift by 21 nodes"),
        Example("octant model solve bgp -t random --solver max-min", "max-min fair rates of all flows"),
        Example("octant model solve power775 -t ptrans --size 16", "with 16 supernodes"),
    ),
    "model explain": (
        Example("octant model explain power775 -t randomaccess --size 25", "limiting link, its flows, next limit"),
        Example("octant model explain bgp -t random", "the same on a torus"),
    ),
    "model diff": (
        Example("octant model diff bgp examples/networks/torus-4x4x4.toml", "compare with your own network file"),
        Example(
            "octant model diff power775 power775 --sizes 2,8 --routing indirect", "compare two routings of one network"
        ),
    ),
    "model reach": (
        Example("octant model reach power775 1e9 -t randomaccess --size 16", "find the links to widen for 1 Gupdate/s"),
        Example("octant model reach bgp 500e6", "reach 500 MB/s per node, all to all"),
    ),
    "model bracket": (
        Example(
            "octant model bracket dragonfly-example -t shift -p 32 --against valiant", "minimal and Valiant routing"
        ),
        Example("octant model bracket power775 -t ptrans --against indirect --size 8", "direct and indirect routing"),
    ),
    "model fail": (
        Example("octant model fail dragonfly-example -c global", "each global cable of a dragonfly, one by one"),
        Example("octant model fail power775 -c D --size 24 --policy twin", "with a failover policy"),
        Example("octant model fail dragonfly-example -c global --random 5 --trials 30", "five failed cables at a time"),
    ),
    "model recover": (
        Example("octant model recover power575-ib -c port -p 12", "show the loss of a transfer"),
        Example("octant model recover power575-ib -c port -p 12 --fails 50us", "with a later failure"),
    ),
    "model calibrate": (
        Example("octant model calibrate power775 --free D -t randomaccess", "fit one class to published values"),
        Example("octant model calibrate bgp --run last", "fit to messages measured here"),
    ),
    "model export": (
        Example("octant model export bgp --to graph", "write a network file to edit"),
        Example("octant model export bgp --to simgrid", "write a platform file of SimGrid"),
    ),
    "model check": (
        Example("octant model check bgp -t shift -p 21", "compare with SimGrid"),
        Example("octant model check examples/networks/torus-4x4x4.toml", "compare for a network file"),
    ),
    "model loads": (
        Example("octant model loads power775 -t randomaccess", "draw link loads by size in the terminal"),
        Example("octant model loads bgp -t random --svg bgp.svg", "write an SVG drawing"),
    ),
    "model report": (
        Example("octant model report power775 -t randomaccess", "write the page to the store"),
        Example("octant model report bgp -t random -o bgp.html", "write the page to this file"),
    ),
    "model collective": (
        Example("octant model collective bgp allreduce --sizes 8:1MiB", "find the fastest algorithm for each size"),
        Example("octant model collective bgp bcast --bytes 1MiB --overhead 1us", "one size, with software overhead"),
        Example("octant model collective bgp barrier --overhead 1us --noise 50us/10ms", "with OS noise"),
    ),
    "model ring": (
        Example("octant model ring bgp --latency 1us", "ordered and random rings"),
        Example("octant model ring power575-ib --ranks 64 --per-node 32 --latency 1us", "32 ranks per node"),
    ),
    "model app": (
        Example(
            "octant model app bgp --ranks 8,64 --compute 1ms --halo 3d:64KiB --reduce 8", "time step of a stencil code"
        ),
        Example(
            "octant model app bgp --ranks 64 --compute 1ms --reduce 1MiB --algorithm all", "with the fastest allreduce"
        ),
    ),
}


def _with_benchmarks() -> dict[str, tuple[Example, ...]]:
    """Return the examples of every command, with those that benchmarks declare."""
    every: dict[str, tuple[Example, ...]] = dict(_OF_COMMANDS)
    for one in benchmarks().values():
        for command, lines in one.examples.items():
            every[command] = (*every.get(command, ()), *(Example(*line) for line in lines))
    return every


EXAMPLES = _with_benchmarks()
"""Two to four examples of each command, by command."""
