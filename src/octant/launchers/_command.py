"""Pasted lines of a shell: which command starts the ranks, what its options and variables say, and what is not read.

`from_syntax` of a launcher gets a `Command`. Before that, every option and variable of it was accounted for by the
tables of the launcher (see `_tables`): it is interpreted, listed below the placement, or the lines are refused.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from octant.launchers import _line, _tables, _words, _wrappers

_SEPARATORS = frozenset({";", "|", "||", "&&", "&", ";;"})
_KEYWORDS = frozenset({"do", "then", "else", "!", "{", "(", "exec", "command"})
"""Words of a shell in front of a command or an assignment."""
_EXPORTING = frozenset({"export", "declare", "typeset"})
_UNSETTING = frozenset({"unset", "unsetenv"})
_REDIRECTION = re.compile(r"(\d*|&)(>>?|<)(&\d|&?)(.*)")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
STARTER = re.compile(r"(mpi|[\w-]*(run|exec|launch|rsh|place|bind|pin|submit))[\w.-]*")
"""Names of commands that seem to start another command on CPUs of their choice."""
_NO_PLACES = "it sets the number of threads of a library and does not move ranks"
COMMON = _tables.table(
    _tables.interpreted("OMP_NUM_THREADS"),
    _tables.irrelevant(_NO_PLACES, "MKL_NUM_THREADS OPENBLAS_NUM_THREADS BLIS_NUM_THREADS NUMEXPR_NUM_THREADS"),
    _tables.irrelevant(
        "it does not bind threads",
        "OMP_SCHEDULE OMP_DYNAMIC OMP_STACKSIZE OMP_WAIT_POLICY OMP_DISPLAY_ENV OMP_DISPLAY_AFFINITY OMP_CANCELLATION "
        "OMP_AFFINITY_FORMAT OMP_MAX_ACTIVE_LEVELS OMP_MAX_TASK_PRIORITY OMP_TARGET_OFFLOAD OMP_DEFAULT_DEVICE "
        "OMP_ALLOCATOR OMP_TOOL OMP_TOOL_LIBRARIES OMP_DEBUG GOMP_STACKSIZE GOMP_SPINCOUNT KMP_BLOCKTIME KMP_STACKSIZE "
        "KMP_LIBRARY KMP_SETTINGS KMP_VERSION KMP_WARNINGS KMP_DUPLICATE_LIB_OK KMP_FORCE_REDUCTION GLIBC_TUNABLES "
        "PATH LD_LIBRARY_PATH LD_PRELOAD HOME TMPDIR",
    ),
    _tables.irrelevant("it only prints masks", "MPICH_CPUMASK_DISPLAY"),
    _tables.irrelevant("it concerns the network or GPUs of Cray MPICH", "MPICH_OFI_* MPICH_GPU_* FI_CXI_*"),
    _tables.not_read("it changes the order of ranks", "MPICH_RANK_REORDER_*"),
    _tables.irrelevant("it selects accelerators", "CUDA_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES HIP_VISIBLE_DEVICES"),
    _tables.not_read("it changes the number or the placement of threads", "OMP_THREAD_LIMIT OMP_NESTED OMP_TEAMS_* "
                      "OMP_NUM_TEAMS OMP_* KMP_* GOMP_*"),
)  # fmt: skip
"""Variables that mean the same in front of every launcher; a runtime's own table precedes this one."""


@dataclass(frozen=True)
class LauncherCommand:
    """One command line: the tool or launcher, its options, and the program behind it."""

    words: tuple[str, ...]
    given: _words.ParsedOptions
    program: tuple[str, ...] = ()

    def last(self, *names: str) -> str | None:
        """Return the value of the option that was given last among these names; `None`: none of them was given."""
        return self.given.last(*names)

    def has(self, *names: str) -> bool:
        """Return whether one of these options was given."""
        return any(name in self.given.spelt for name in names)

    def number(self, *names: str, most: int = _line.MAX_RANKS) -> int | None:
        """Return the value of an option as a number from 1 to `most`; `None`: it was not given.

        Raises:
            ValueError: it is none.
        """
        found = next(((n, v) for n, v in reversed(self.given.all_values) if n in names and v), None)
        return (
            None
            if found is None
            else _line.read_integer(self.given.spelt[found[0]].partition("=")[0], found[1][0], most)
        )


@dataclass(frozen=True)
class Command(LauncherCommand):
    """The command line that a launcher's reader reads, with the lines before and behind it."""

    text: str = ""  # all lines
    variables: dict[str, str] = field(default_factory=dict)  # that ranks see: of the lines, `env` and assigning options
    rows: tuple[LauncherCommand, ...] = ()  # of a tool: one for each rank
    directives: _words.ParsedOptions = field(
        default_factory=lambda: _words.ParsedOptions(0)
    )  # options in lines such as #SBATCH
    file: str = ""  # lines of a rank file or map file behind the command
    outside: dict[str, str] = field(default_factory=dict)  # `variables` that the launcher itself sees

    def threads(self) -> int | None:
        """Return OpenMP's number of threads, of the outermost level."""
        return _line.CommandLine(self.variables, []).threads()

    def value(self, variable: str) -> str:
        """Return what a variable is set to.

        Raises:
            ValueError: the text names it without setting it.
        """
        return _line.CommandLine(self.variables, []).value(variable)


@dataclass
class Script:
    """Pasted lines, taken apart."""

    variables: dict[str, str] = field(default_factory=dict)
    rows: list[list[str]] = field(default_factory=list)  # commands, without assignments in front
    seen: list[dict[str, str]] = field(default_factory=list)  # the variables of each of them
    lines: list[dict[str, str]] = field(default_factory=list)  # the assignments of each line without a command
    comments: list[str] = field(default_factory=list)
    file: str = ""


def read_script(text: str, file_lines: Sequence[str]) -> Script:
    """Take pasted lines apart: assignments (`export A=b`, `A=b mpiexec …`), commands, and the lines of a file.

    Args:
        text: the lines; a line may end in a backslash.
        file_lines: patterns of the first line of a file that follows the command without a heading.

    Raises:
        ValueError: too long, or with an open quotation.
    """
    found = Script()
    starts = [match for pattern in (r"^# file ", *file_lines) for match in re.finditer(pattern, text, re.MULTILINE)]
    begin = min((match.start() for match in starts), default=len(text))
    text, found.file = text[:begin], text[begin:]
    if len(text) > _line.LONGEST_OPTIONS:
        raise ValueError(
            f"cannot read lines of {len(text)} characters (at most {_line.LONGEST_OPTIONS}); give the lines "
            "of one launch"
        )
    stated = re.findall(r"^#SBATCH[ \t]+(?:\S+[ \t]+)*?(?:-c|--cpus-per-task)[ =]?(\d+)\b", text, re.MULTILINE)
    kept = {"SLURM_CPUS_PER_TASK": stated[0]} if len(stated) == 1 else {}  # and assignments that are commands
    for row in (line.strip() for line in text.replace("\\\n", " ").splitlines()):
        if row.startswith("#"):
            found.comments.append(row)
            continue
        try:
            lexer = shlex.shlex(row, posix=True, punctuation_chars=";|")
            lexer.whitespace_split = True
            pieces = list(lexer)
        except ValueError as error:
            raise ValueError(f"cannot read {row!r} ({str(error).lower()})") from None
        for unexpanded in _commands(pieces):
            words = unexpanded if "'" in row else [_expanded(word, kept, text) for word in unexpanded]
            before = len(found.lines)
            _add(found, words)
            for line in found.lines[before:]:
                kept |= line
    return found


def _add(script: Script, words: Sequence[str]) -> None:
    """Add one command of a shell: it changes variables (`export`, `unset`), or it is a row."""
    begin = next((at for at, word in enumerate(words) if not _ASSIGNMENT.match(word)), len(words))
    stated = dict(word.split("=", 1) for word in words[:begin])
    script.variables |= stated
    options = [word for word in words[begin + 1 :] if word.startswith("-")]
    operands = [word for word in words[begin + 1 :] if not word.startswith("-")]
    name = "".join(words[begin : begin + 1])
    if name in _UNSETTING or (name == "export" and any("n" in word for word in options)) or "+x" in operands[:1]:
        for variable in () if "-f" in options else operands:
            script.variables.pop(variable.partition("=")[0], None)
    elif name in _EXPORTING:
        stated |= dict(word.split("=", 1) for word in operands if _ASSIGNMENT.match(word))
    elif name == "setenv" and operands:
        stated[operands[0]] = "".join(operands[1:2])
    elif name:
        script.rows.append(list(words[begin:]))
        script.seen.append(dict(script.variables))
        return
    script.variables |= stated
    script.lines += [stated] if stated else []


def _expanded(word: str, variables: Mapping[str, str], text: str) -> str:
    """Return a word with `$NAME` and `${NAME}` replaced, if the lines name NAME elsewhere only in one assignment.

    Slurm sets SLURM_CPUS_PER_TASK from an option of the batch job, so that no line may assign it.
    """

    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        named = re.findall(rf"(?<![\w$]){name}\b", re.sub(r"\$\{\w+\}", "", text))
        known = variables.get(name, "")
        return (
            known if len(named) == (name != "SLURM_CPUS_PER_TASK") and re.fullmatch(r"[\w.,:/+-]+", known) else found[0]
        )

    return re.sub(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})", value, word)


def _commands(pieces: list[str]) -> list[list[str]]:
    """Return the commands between `;`, `&&` and pipes, without keywords in front and without redirections."""
    found: list[list[str]] = [[]]
    file = False
    for piece in pieces:
        redirection = _REDIRECTION.fullmatch(piece)
        if piece in _SEPARATORS:
            found.append([])
        elif redirection is not None:
            file = not redirection[3] and not redirection[4]
        elif not file and (piece not in _KEYWORDS or found[-1]):
            found[-1].append(piece)
        else:
            file = False
    return [words for words in found if words]


def refuse_unexpanded(words: Sequence[str], variables: Mapping[str, str]) -> None:
    """Refuse text that only the shell of the user can replace.

    Raises:
        ValueError: a word or a value contains `$` or a backquote.
    """
    found = next((word for word in words if "$" in word or "`" in word), None)
    if found is None:
        found = next((f"{name}={value}" for name, value in variables.items() if "$" in value or "`" in value), None)
    if found is not None:
        raise ValueError(f"cannot read {found[:60]!r}: it needs a shell to expand; give the expanded text")


def peel(words: Sequence[str], variables: Mapping[str, str]) -> tuple[Sequence[str], dict[str, str], list[str]]:
    """Return a command without `env A=b`, `nice`, `perf stat` and such in front, its variables, and their names.

    Raises:
        ValueError: an option of a command in front that is not known.
    """
    at, names, path = 0, [], variables.get("PATH")
    while command_name(words[at:]) in _wrappers.OBSERVERS:
        name, before = command_name(words[at:]), variables
        at, variables = _wrappers.skip_one(words, at, variables, _wrappers.OBSERVERS)
        changed = {key for key in {*variables, *before} - {"PATH"} if variables.get(key) != before.get(key)}
        names += [] if changed else [name]
    seen = {name: value for name, value in variables.items() if name != "PATH" or path is not None}  # `env -i` sets it
    return words[at:], seen, names


def parsed(module: ModuleType, words: Sequence[str]) -> LauncherCommand:
    """Return a command line of a launcher, taken apart by the launcher's own grammar.

    Raises:
        ValueError: an option that the launcher does not have, or a missing value.
    """
    if not hasattr(module, "parse"):  # a runtime: the words are the program
        return LauncherCommand(tuple(words), _words.ParsedOptions(0), tuple(words))
    try:
        given: _words.ParsedOptions = module.parse(words)
    except ValueError as error:
        raise ValueError(f"cannot interpret the command line of {module.TITLE}: {error}") from None
    program = words[given.end :]
    refuse_unexpanded([*words[: given.end], *program[:1]], {})
    if ":" in program:
        raise ValueError("cannot interpret several programs separated by ':'; give the command line of one program")
    return LauncherCommand(tuple(words), given, tuple(program))


def assigned(
    row: LauncherCommand, own: _tables.Table | None = None, notes: list[str] | None = None, *, ranks_only: bool = True
) -> dict[str, str]:
    """Return the variables that assigning options set for the ranks, or for the launcher (`--mca NAME VALUE`).

    Args:
        row: the command line.
        own: the launcher's variables, which have no effect where the ranks alone see them.
        notes: gets a remark on those.
        ranks_only: include other variables that the launcher itself does not see.
    """
    found: dict[str, str] = {}
    for (_, values), (_, option) in zip(row.given.all_values, row.given.occurrences, strict=True):
        if option.effect != "assigning" or not values or (option.ranks_only and not ranks_only):
            continue
        name, equals, value = values[0].partition("=")
        known = _tables.variable(option.prefix + name, own or {}) if option.ranks_only else None
        if known is not None and known.effect != "irrelevant":
            if notes is not None:
                notes.append(f"not used for the placement: {name} (it is set for the ranks only, not for the launcher)")
        elif equals or len(values) > 1:
            found[option.prefix + name] = value if equals else values[1]
    return found


def account_options(row: LauncherCommand) -> list[str]:
    """Return the remarks on options that have no influence on the placement.

    Raises:
        ValueError: an option that is not supported and may change the placement.
    """
    notes: dict[str, list[str]] = {}
    for word, option in row.given.occurrences:
        if option.effect == "not read":
            raise ValueError(
                f"cannot interpret this line: {word.partition('=')[0]} is not supported ({option.reason}); remove "
                "it if it has no effect here"
            )
        if option.effect == "irrelevant":
            notes.setdefault(option.reason, []).append(word.partition("=")[0])
    return _listed(notes)


def account_variables(variables: Mapping[str, str], tables: Sequence[_tables.Table], title: str) -> list[str]:
    """Return the remarks on variables that have no influence on the placement.

    Raises:
        ValueError: a variable that is not supported and may change the placement.
    """
    notes: dict[str, list[str]] = {}
    for name in variables:
        known = _tables.variable(name, *tables, COMMON)
        if known is None and _tables.SUSPICIOUS.search(name):
            raise ValueError(
                f"cannot interpret this line: {name} is not a known variable of {title}, and its name suggests "
                "an effect on placement; remove it if it has none"
            )
        if known is not None and known.effect == "interpreted":
            refuse_unexpanded([], {name: variables[name]})
        if known is not None and known.effect == "not read":
            raise ValueError(
                f"cannot interpret this line: {name} is not supported ({known.reason}); remove it if it has no "
                "effect here"
            )
        if known is None or known.effect == "irrelevant":
            notes.setdefault("unknown variable" if known is None else known.reason, []).append(name)
    return _listed(notes)


def _listed(notes: Mapping[str, Sequence[str]]) -> list[str]:
    return [f"not used for the placement: {', '.join(dict.fromkeys(names))} ({why})" for why, names in notes.items()]


def command_name(words: Sequence[str]) -> str:
    """Return the name of a command without its folder."""
    return Path(words[0]).name if words else ""
