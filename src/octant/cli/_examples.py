"""Examples of every command: `--help` and README show them, and a test types them."""

from __future__ import annotations

from typing import NamedTuple

from octant.benchmarks import benchmarks


class Example(NamedTuple):
    """A line that can be typed as it stands, and what it gives."""

    line: str
    gives: str


class WayIn(NamedTuple):
    """A kind of people, and the first commands for them."""

    who: str
    examples: tuple[Example, Example, Example]


WAYS_IN = (
    WayIn(
        "To accept or check a machine",
        (
            Example("octant doctor", "what disturbs it, and what fixes it"),
            Example("octant evaluate", "in minutes: figures, and a report"),
            Example("octant compare --gate", "measured again: exit 5 if slower"),
        ),
    ),
    WayIn(
        "To tune a program",
        (
            Example("octant where --ranks 2 -- ./program", "where its threads and memory are"),
            Example("octant place --place 2x1 --for slurm", "options for your launcher"),
            Example("octant settings MP_EAGER_LIMIT", "what an old setting is today"),
        ),
    ),
    WayIn(
        "To study and publish",
        (
            Example("octant study list", "questions with published answers"),
            Example("octant study run page-size", "one, answered on this machine"),
            Example("octant export last --to csv", "the numbers for your figures"),
        ),
    ),
    WayIn(
        "To plan a network",
        (
            Example("octant model list", "networks that come with Octant"),
            Example("octant model explain bgp -t random", "which link limits, what is next"),
            Example("octant model report power775 -t ptrans", "rate, loads, failures: one page"),
        ),
    ),
)
"""Four kinds of people: README and `octant --help` lead each to three commands."""

_OF_COMMANDS = {
    "evaluate": (
        Example("octant evaluate", "the quick suite, a table and a report"),
        Example("octant evaluate --full", "more sizes, more launches: about an hour"),
        Example("octant evaluate --only stream --notes", "one workload of the suite, every caveat"),
    ),
    "run": (
        Example("octant run stream bytes=1MiB,1GiB pages=base,thp", "every combination of the values"),
        Example("octant run stream --launcher sbatch --script job.sh", "as a job, to submit later"),
        Example("octant run -- ./app input.nml", "a program of yours: time, memory, lost time"),
        Example("octant run n=1,2 --value 't[s]=time = (.*)' -- ./app {n}", "each value; a time that it prints"),
    ),
    "resume": (
        Example("octant resume", "goes on with the last run"),
        Example("octant resume last --timeout 60", "and ends a launch that takes a minute"),
    ),
    "runs": (
        Example("octant runs", "runs of ./octant-store, oldest first"),
        Example("octant runs --store ~/measured", "those of another store"),
    ),
    "workloads": (
        Example("octant workloads", "what can be measured"),
        Example("octant workloads stream", "its page, metrics, limits and knobs"),
    ),
    "report": (
        Example("octant report", "the last run as a table, then its HTML file"),
        Example("octant report --pictures", "with the pictures drawn in the terminal"),
        Example("octant report previous --share -o ours.html", "without user, host and file names"),
    ),
    "compare": (
        Example("octant compare", "the last run with the one before"),
        Example("octant compare --rounds 6 previous last", "both measured again in turn: sharper"),
        Example("octant compare --gate --until-sure", "exit code 5 on a regression, early if clear"),
        Example("octant compare -- ./old input -- ./new input", "two programs, in paired rounds"),
    ),
    "export": (
        Example("octant export", "a CSV row per metric of every figure"),
        Example("octant export last --samples -o samples.csv", "every sample of every series"),
        Example("octant export previous --to parquet -o run.parquet", "for DuckDB, pandas and the like"),
    ),
    "import": (
        Example("octant import imb imb.txt", "an output of the Intel MPI Benchmarks"),
        Example("octant import imb imb.txt imb-2.txt --machine ours", "of several each is a launch"),
        Example("octant import osu osu.txt --ranks 64", "where the tool does not say how many ranks"),
    ),
    "machine": (
        Example("octant machine", "what this computer is made of"),
        Example("octant machine --record here", "its description, to send to others"),
        Example("octant machine --from here", "a machine that was recorded"),
        Example("octant machine --beside power575", "row by row beside a published machine"),
    ),
    "doctor": (
        Example("octant doctor", "what disturbs, with evidence and fix"),
        Example("octant doctor --explain governor", "the page of one rule"),
    ),
    "settings": (
        Example("octant settings I_MPI_FABRICS=shm:dapl", "a current variable, with a value that was removed"),
        Example("octant settings MP_EAGER_LIMIT", "what replaces an old variable"),
        Example("octant settings eager limit --library mpich", "in the installed MPICH, with its default"),
        Example("octant settings --check MPIR_CVAR_NOLOCL=1", "a misspelt name that MPICH would ignore"),
    ),
    "place": (
        Example("octant place --place 2x1,order=scatter", "two ranks, far apart, as a drawing"),
        Example("octant place --place 2x1 --for slurm,openmpi", "as options of two launchers"),
        Example("octant place --from 'srun -n 2 -c 1 ./program'", "what those options mean here"),
    ),
    "where": (
        Example("octant where -- ./program", "where its threads ran, where its memory is"),
        Example("octant where --place 2x1 -- ./program", "placed, and compared with what was asked"),
        Example("octant where --pages -- ./program", "and which page sizes its memory is on"),
    ),
    "bind": (
        Example("octant bind --place 2x1", "the words to put before the program"),
        Example("octant bind --place 2x1,memory=local", "its memory beside each rank, too"),
    ),
    "catalogue": (
        Example("octant catalogue", "how much of each kind there is"),
        Example("octant catalogue findings", "published claims, one line each"),
        Example("octant catalogue machines power575", "one entry in full, with its source"),
    ),
    "study": (
        Example("octant study list", "the questions that come with Octant"),
        Example("octant study run page-size", "measures, then verdicts on the findings"),
        Example("octant study report gups-scaling", "answered by the network model, at once"),
    ),
    "study list": (
        Example("octant study list", "names, findings and questions"),
        Example("octant study list --json", "the same for programs"),
    ),
    "study show": (
        Example("octant study show page-size", "what it asks, and what is testable here"),
        Example("octant study show ./mine.toml", "a study file of yours"),
    ),
    "study run": (
        Example("octant study run page-size", "measured here, beside what was published"),
        Example("octant study run page-size --repeats 12", "more launches: narrower intervals"),
        Example("octant study run ./mine.toml --seed 1", "yours, in an order that can be repeated"),
    ),
    "study report": (
        Example("octant study report page-size", "the last run of that study"),
        Example("octant study report gups-scaling -o gups.html", "a page to send on"),
    ),
    "model": (
        Example("octant model scale power775 -t randomaccess --sizes 1,24,25", "rate against size, published points"),
        Example("octant model explain bgp -t random", "what limits, and what comes next"),
        Example("octant model collective bgp allreduce --sizes 8:1MiB", "which algorithm is the fastest"),
    ),
    "model list": (
        Example("octant model list", "names, shapes, sizes, routings"),
        Example("octant model list --json", "the same for programs"),
    ),
    "model show": (
        Example("octant model show bgp", "nodes, switches, cables"),
        Example("octant model show examples/networks/fabric.ibnet", "the devices of an InfiniBand fabric"),
    ),
    "model scale": (
        Example("octant model scale power775 -t randomaccess --sizes 1,24,25", "sizes are supernodes here"),
        Example("octant model scale dragonfly-example --sizes 9:33:8", "every eighth number of groups"),
    ),
    "model solve": (
        Example("octant model solve bgp -t shift -p 21", "a shift by 21 nodes"),
        Example("octant model solve bgp -t random --solver max-min", "rates shared fairly, flow by flow"),
        Example("octant model solve power775 -t ptrans --size 16", "at 16 supernodes"),
    ),
    "model explain": (
        Example("octant model explain power775 -t randomaccess --size 25", "the link, its flows, the next limit"),
        Example("octant model explain bgp -t random", "the same on a torus"),
    ),
    "model diff": (
        Example("octant model diff bgp examples/networks/torus-4x4x4.toml", "one with a file of yours"),
        Example("octant model diff power775 power775 --sizes 2,8 --routing indirect", "two routings of one network"),
    ),
    "model reach": (
        Example("octant model reach power775 1e9 -t randomaccess --size 16", "links to widen for 1 Gupdate/s"),
        Example("octant model reach bgp 500e6", "500 MB/s of each node, all to all"),
    ),
    "model bracket": (
        Example(
            "octant model bracket dragonfly-example -t shift -p 32 --against valiant", "minimal and Valiant routes"
        ),
        Example("octant model bracket power775 -t ptrans --against indirect --size 8", "direct and indirect routes"),
    ),
    "model fail": (
        Example("octant model fail bgp -c link", "every cable of a torus, one by one"),
        Example("octant model fail power775 -c D --size 24 --policy twin", "with a policy of failover"),
        Example("octant model fail dragonfly-example -c global --random 5 --trials 30", "five at a time"),
    ),
    "model recover": (
        Example("octant model recover power575-ib -c port -p 12", "what a transfer loses meanwhile"),
        Example("octant model recover power575-ib -c port -p 12 --fails 50us", "with a later failure"),
    ),
    "model calibrate": (
        Example("octant model calibrate power775 --free D -t randomaccess", "one class, to published points"),
        Example("octant model calibrate bgp --run last", "to messages that were measured here"),
    ),
    "model export": (
        Example("octant model export bgp --to graph", "a network file to edit"),
        Example("octant model export bgp --to simgrid", "a platform of SimGrid"),
    ),
    "model check": (
        Example("octant model check bgp -t shift -p 21", "SimGrid's answer beside the model's"),
        Example("octant model check examples/networks/torus-4x4x4.toml", "of a network file"),
    ),
    "model loads": (
        Example("octant model loads power775 -t randomaccess", "link loads against size, as characters"),
        Example("octant model loads bgp -t random --svg bgp.svg", "as a drawing"),
    ),
    "model report": (
        Example("octant model report power775 -t randomaccess", "writes its page into the store"),
        Example("octant model report bgp -t random -o bgp.html", "into a file of yours"),
    ),
    "model collective": (
        Example("octant model collective bgp allreduce --sizes 8:1MiB", "the fastest from each size on"),
        Example("octant model collective bgp bcast --bytes 1MiB --overhead 1us", "one size, with software costs"),
        Example("octant model collective bgp barrier --overhead 1us --noise 50us/10ms", "with interruptions"),
    ),
    "model ring": (
        Example("octant model ring bgp --latency 1us", "ordered and random, as in HPC Challenge"),
        Example("octant model ring power575-ib --ranks 64 --per-node 32 --latency 1us", "32 ranks per node"),
    ),
    "model app": (
        Example("octant model app bgp --ranks 8,64 --compute 1ms --halo 3d:64KiB --reduce 8", "a stencil code's step"),
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
"""By command: two to four lines that work, and what each is for."""
