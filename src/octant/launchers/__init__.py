"""One file or folder per launcher, which is its registration. It has `TITLE` and each role that the launcher has.

| role | what the file declares |
| --- | --- |
| `write` | `to_syntax(placement, request, topology) -> Syntax`: a placement as options of the launcher |
| `read` | `MARK`, a pattern that recognises such options, and `from_syntax(command, topology) -> LauncherReading` |
| `start` | `at_hand(environment)` and `command(program, size)`: see `Launcher`; optional: `yielding(size)` |
| `mpiexec` | `VERSION`, `PMI`, `SPINS` and `unbound(size, root)`: see `MpiLauncher`; `--launcher mpiexec` uses it |
| `job` | `LAUNCHER`, `script(job)` and `submission(path)`: see `BatchSystem` |
| `recognise` | `COMMANDS` and `recognise(words, environment) -> LaunchCommand`; optional: see `Recogniser` |

A launcher has the name of its file, or in a role the name that `NAMES` gives: `NAMES = {"start": "srun"}`. Optional for
`read`: `FILE`, a pattern whose group is the file that the options name, `FILE_LINES`, a pattern of the first line of
that file behind the command, and `BINDS`, what a tool binds that starts no ranks itself: one process (`"process"`) or
the threads inside each rank (`"threads"`).

A launcher's options are one table, which `recognise` and `read` share: `OPTIONS` and `VARIABLES` (see `_tables`), and
`parse(words) -> ParsedOptions`, the grammar. For `read`, the words that `from_syntax` gets in a `Command` (see
`_command`) have been taken apart by `parse`, and every option and variable has been accounted for:
`command.last("bind-to")`, `command.number("n")`, `command.has("label")`, `command.variables`, `command.threads()`,
`command.directives` (options in comment lines that begin with `DIRECTIVE`, such as #SBATCH), `command.program`,
`command.file`. `READS` names the commands whose lines are read where they differ from `COMMANDS`. `DECIDES` is an
example of an option that only this launcher has, for lines of `mpiexec` that several launchers accept; `ONLY` is a
pattern of values that only it has.

To convert a launcher: sort its options into `OPTIONS`, delete its tables of counts, letters and refusals, let `parse`
call `_words.scan` or `_words.getopt` with `OPTIONS`, use `parse` in `recognise`, and read a `Command` in `from_syntax`.
An option whose values decide by themselves (`--cpu-bind=verbose`) is "interpreted"; its reader refuses unknown values.
"""

from octant.launchers._jobs import BatchSystem, Job, Submission, batch_system, render_job_script
from octant.launchers._mpi import MpiLauncher, hydra_hosts, identify_mpi_library, mpi_launcher
from octant.launchers._placement import from_syntax, to_every_syntax, to_syntax
from octant.launchers._reading import LauncherReading, Syntax
from octant.launchers._recognise import (
    MAX_RANKS,
    LaunchCommand,
    Recogniser,
    command_names,
    hidden_launcher,
    recognise,
    temporary_variables,
)
from octant.launchers._roles import ROLES, entries, has, launchers_with_role, names
from octant.launchers._start import JobSize, Launcher, chosen, launcher, yielding
from octant.launchers._translate import Translation, append_named_file, request_text, translate
from octant.launchers._unbinding import behind_wrapper, skip_wrappers, unbinding_option

__all__ = [
    "MAX_RANKS",
    "ROLES",
    "BatchSystem",
    "Job",
    "JobSize",
    "LaunchCommand",
    "Launcher",
    "LauncherReading",
    "MpiLauncher",
    "Recogniser",
    "Submission",
    "Syntax",
    "Translation",
    "append_named_file",
    "batch_system",
    "behind_wrapper",
    "chosen",
    "command_names",
    "entries",
    "from_syntax",
    "has",
    "hidden_launcher",
    "hydra_hosts",
    "identify_mpi_library",
    "launcher",
    "launchers_with_role",
    "mpi_launcher",
    "names",
    "recognise",
    "render_job_script",
    "request_text",
    "skip_wrappers",
    "temporary_variables",
    "to_every_syntax",
    "to_syntax",
    "translate",
    "unbinding_option",
    "yielding",
]
