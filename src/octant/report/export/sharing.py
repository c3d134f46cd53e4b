"""Redaction of shared reports: names of users and hosts, paths of files, and secrets of users' programs.

Arguments of programs appear in titles, command lines, reasons of failures, notes and names of checks. Those that are
paths, or may be secrets, are found in the request word by word, and replaced in all texts.
"""

import contextlib
import getpass
import json
import os
import pwd
import re
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from octant.program import shell_text
from octant.request import Request
from octant.store import StoredRun
from octant.store.environment import is_secret_name, is_secret_value

PATH, HIDDEN = "(path)", "(hidden)"
"""What is shown instead."""
LEAST_ALONE = 4
"""Characters of a secret that is replaced wherever it appears, not only behind its name."""
LEAST_INSIDE = 6
"""Characters of a text that is replaced inside of words too."""
LEAST_CUT = 4
"""Characters of the beginning of a text that is replaced where the rest was cut off."""

_BRACES = re.compile(r"\{(\w+)\}")
_PARTS = re.compile(r"[\s'\"`;|&()<>$\\]+")
_ASSIGNED = re.compile(r"(-{0,2}[A-Za-z_][\w.-]*)([=:])(.+)", re.DOTALL)
_NAMES_A_SECRET = re.compile(
    r"--?[\w-]*(?:pass(?:word|wd|phrase|code)?|pwd?|secret|token|credentials?|key|auth|cookie|pin|user|jwt)",
    re.IGNORECASE,
)
_MEMBER = re.compile(
    r"(?<![\w.-])([\w.-]+)(?:\\*[\"'])?\s*[=:]\s*"
    r"(\[[^\]]*\]?|\\*\"(?:[^\"\\]|\\[^\"]|\\\"(?!\s*[,:}\]]))*|'[^']*|[^\s\"'\[{,;&|()<>}\]][^\s\"',;&|()<>}\]]*)"
)
"""Names with values in JSON, YAML, queries of addresses and settings; a list has all its texts."""
_TEXTS = re.compile(r"[^\s\[\]\"',]+(?:\\[^,\]]|[^\[\]\"',])*")
_JOINED_PASSWORD = re.compile(r"-[pP]([^-=:].*)", re.DOTALL)
_USER = re.compile(r"-[uU](.*)", re.DOTALL)
_PARENTS = frozenset({"mkdir", "cp"})
"""Commands whose option `-p` takes no password."""
_FEW_DIGITS = re.compile(r"\d{1,3}")
_SHORT_NUMBER = re.compile(r"[+-]?\d{0,6}\.?\d{0,6}(?:[eE][+-]?\d{1,3})?|\d+(?:/\d+)+")
_PLAIN = frozenset({"", "true", "false", "none", "auto", "yes", "no", "on", "off", "default"})
_HEX = re.compile(r"(?=.*\d)(?=.*[a-fA-F])[0-9a-fA-F-]{16,}")
_BASE64 = re.compile(r"(?=(?:.*[a-z].*[A-Z]|.*[A-Z].*[a-z]|.*\d.*[A-Za-z]|.*[A-Za-z].*\d))[\w+/=.-]{20,}", re.ASCII)
_TOKEN = re.compile(r"(?:gh[a-z]|github_pat|glpat|xox[a-z]|sk|pk|hf)[-_]\w{6,}[\w-]*|A[KS]IA[0-9A-Z]{12,}")
_URL = re.compile(r"\w+://([^/\s@:]*):?([^/\s@]*)@\S*")
_UNIT = re.compile(r"(?:[kKMGT]i?)?[A-Za-z]{1,6}/(?:s|h|min|op|it|flop|B)")
_PUBLIC = frozenset({"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml"})
_IN_TEXT = (
    re.compile(
        r"(?i)((?:[\w-]*(?:passw|secret|token|credential|api_?key)[\w-]*|(?<![^\W_])(?:pass|pwd?|auth|key)(?![^\W_]))"
        r"(?:\\*[\"'])?\s*[=:]\s*(?:\\*[\"'])?)"
        rf"(?!\(hidden\)|(?:{'|'.join(sorted(_PLAIN - {''}))})\b)[^\s,;\"'}}]+"
    ),
    re.compile(r"(?i)(\b(?:bearer|basic)\s+)(?!\(hidden\))[\w+/=.-]{6,}"),
    re.compile(r"(\w+://)[^/\s@]*:[^/\s@]*(?=@)"),
)
"""Secrets that a program itself may have printed; what is before them stays."""
_SYSTEM = "/(?:proc|sys(?!/fs/cgroup/))/"  # the same on every machine; control groups name users and jobs
# Not inside a word (`B/s`), a fraction, an end tag or the address of a page.
_PATH_TEXT = re.compile(rf"(?<![\w.)<])(?<!:/)(?!//|{_SYSTEM})(?:~|\.\.?)?/[^\s\"'`,;:()<>|]*\w[^\s\"'`,;:()<>|]*")
_HOME = re.compile(r"/(?:home|users)/([\w.-]+)", re.IGNORECASE)
_IN_MARKUP = re.compile(r'(?<=>)[^<]+|(?<==")[^"<]+(?=")')
_COMMON = frozenset({"", "localhost", "(none)"})


def cleaner(run: StoredRun) -> Callable[[str], str]:
    """Return a function that removes user names, host names, paths and secrets of programs from a text of this run."""
    hide = hider(run)
    hosts, users = _hosts(run), _users(run)
    words = {**dict.fromkeys(users, "user"), **{name: f"host {n + 1}" for n, name in enumerate(hosts)}}
    every = sorted(words, key=len, reverse=True)  # the full name of a host before its first part
    known = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, every))})(?![\w-])") if every else None

    def clean(text: str) -> str:
        text = _PATH_TEXT.sub(PATH, hide(text))
        return known.sub(lambda found: words[found[0]], text) if known else text

    return clean


def cleaned(value: Any, clean: Callable[[str], str]) -> Any:
    """Return a value of JSON types or dataclasses with all texts cleaned; names of members are kept."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {name: cleaned(one, clean) for name, one in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{field.name: cleaned(getattr(value, field.name), clean) for field in fields(value)})
    return type(value)(cleaned(one, clean) for one in value) if isinstance(value, list | tuple) else value


def cleaned_markup(markup: str, clean: Callable[[str], str]) -> str:
    """Return a drawing with its texts and attribute values cleaned; names of elements and attributes are kept."""
    return _IN_MARKUP.sub(lambda found: clean(found[0]), markup) if clean is not str else markup


def _hosts(run: StoredRun) -> list[str]:
    """Return the hosts named in a run and the local host, each also by its first component."""
    given = (one.host for point in run.points for one in point.given)
    asked = (host.rpartition("@")[2] for launch in run.launches for host in launch.request.shape.hosts)
    reported = (host for point in run.points for host in point.process.hosts)
    return _names([run.machine.name, *given, *asked, *reported, socket.gethostname(), os.uname().nodename])


def _users(run: StoredRun) -> list[str]:
    """Return the owner of the store, the current user, and the owners of home directories named in the run."""
    names = [host.partition("@")[0] for launch in run.launches for host in launch.request.shape.hosts if "@" in host]
    with contextlib.suppress(KeyError, OSError):
        names += [getpass.getuser(), pwd.getpwuid(run.folder.stat().st_uid).pw_name]
    texts = (run.title, str(run.folder.resolve()), *run.environment.values(), *run.machine.software.values())
    return _names([*names, *(name for text in texts for name in _HOME.findall(text))])


def _names(found: Iterable[str]) -> list[str]:
    every = [part for name in found for part in (name, name.partition(".")[0])]
    return [name for name in dict.fromkeys(every) if name not in _COMMON]


def hider(run: StoredRun) -> Callable[[str], str]:
    """Return what removes arguments of the programs of a run from a text; it changes nothing if there is no program."""
    requests = {
        id(request): request
        for request in (*run.requests, *(launch.request for launch in run.launches))
        if request.subject.command
    }
    if not requests:
        return str
    found: dict[str, str] = {}
    for request in requests.values():
        found |= dict(_of_request(request))
    for planned in run.plans.values():
        if planned.launch.request.subject.command:
            found |= dict(_of_words(planned.words)) | dict(_of_members(planned.environment))
    names = {request.subject.name for request in requests.values()}
    texts = [failure.reason for failure in run.failures]
    texts += [text for point in run.points for text in point.notes.values()]
    for text in texts:
        found |= {token: shown for token, shown in _of_words([text]) if token != text and token not in names}
    return _replacing({text: shown for text, shown in found.items() if re.search(r"\w", text) and text not in _PUBLIC})


def _of_request(request: Request) -> Iterator[tuple[str, str]]:
    """Yield the texts of a request that are removed, each with its replacement."""
    subject = request.subject
    lines = [subject.command, *subject.before, *subject.after, *(check.command for check in subject.checks)]
    files = [subject.input, subject.directory, *subject.keep, *(value.source for value in subject.values)]
    files += [name for check in subject.checks for name in (check.file, check.reference)]
    cells = request.cells() if any("{" in word for line in (*lines, files) for word in line) else []
    for known in ({}, *({"ranks": str(request.shape.ranks), **cell} for cell in cells)):
        for line in (*lines, files):
            yield from _of_words([_filled(word, known) for word in line])
        yield from _of_members({name: _filled(value, known) for name, value in subject.environment.items()})
    for name, values in request.knobs.items():
        for value in (values, *values.split(",")):
            yield from _of_members({name: value})


def _filled(text: str, known: Mapping[str, str]) -> str:
    return _BRACES.sub(lambda found: known.get(found[1], found[0]), text) if known else text


def _of_members(members: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, value in members.items():
        if _is_secret_name(name):
            yield from _secret(name, "=", value)
        yield from _of_words([value])


def _of_words(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the arguments that are removed, and parts of arguments that are shell command lines."""
    first, before = "", ""
    for word in words:
        if before and _NAMES_A_SECRET.fullmatch(before) and not word.startswith("-"):
            yield from _secret(before, " ", word)
        yield from _of_short_option(first, before, word)
        yield from _of_word(word)
        yield from _of_inside(word)
        parts = [part for part in _PARTS.split(word) if part and part != word]
        if parts:
            yield from _of_words(parts)
        first, before = before, word


def _of_short_option(first: str, before: str, word: str) -> Iterator[tuple[str, str]]:
    """Yield passwords of `-p VALUE`, `-pVALUE`, `-u USER:VALUE` and `-uUSER:VALUE`.

    Args:
        first, before: the two words in front.
    """
    is_value = not word.startswith("-") and not _FEW_DIGITS.fullmatch(word) and not _BRACES.fullmatch(word)
    if before in ("-p", "-P") and is_value and first.rpartition("/")[2] not in _PARENTS:
        yield from _secret(before, " ", word)
    elif (joined := _JOINED_PASSWORD.fullmatch(word)) and not _FEW_DIGITS.fullmatch(joined[1]):
        yield word, f"{word[:2]}{HIDDEN}"
        if not joined[1].isalpha():  # else it may be a word of the report, as in `-parallel`
            yield from _alone(joined[1])
    user = word if before in ("-u", "-U") else joined[1] if (joined := _USER.fullmatch(word)) else ""
    if ":" in user:
        yield user, HIDDEN
        yield from _alone(user)


def _of_inside(word: str) -> Iterator[tuple[str, str]]:
    """Yield secrets that follow their names inside an argument, as in `{"token": "…"}` and `a=1,pw=…`."""
    for member in _MEMBER.finditer(word):
        name, value = member[1], member[2].lstrip("\\").lstrip("\"'")
        for one in _TEXTS.findall(value) if value.startswith("[") else [value]:
            if _is_hidden(name, one):
                begin = word.find(one, member.start(2))
                shown = word[member.start() : begin]
                yield f"{shown}{one}", f"{shown}{HIDDEN}"
                yield from _alone(one)


def _is_secret_name(name: str) -> bool:
    return is_secret_name(name) or "pw" in name.lower()


def _is_hidden(name: str, value: str) -> bool:
    """Return whether the value of a name is a secret; small numbers are secrets only after an option for secrets."""
    is_option = bool(_NAMES_A_SECRET.fullmatch(f"-{name.lstrip('-')}"))
    if value.lower() in _PLAIN or not (_is_secret_name(name) or (is_option and name.startswith("-"))):
        return False
    return is_option or not _SHORT_NUMBER.fullmatch(value)


def _of_word(word: str) -> Iterator[tuple[str, str]]:
    if assigned := _ASSIGNED.fullmatch(word):
        name, sign, value = assigned.groups()
        if _is_hidden(name, value):
            yield from _secret(name, sign, value)
            return
        if sign == "=" and (shown := _instead(value)):
            yield value, shown
            return
    if shown := _instead(word):
        yield word, shown
    if url := _URL.search(word):
        for part in url.groups():
            if len(part) >= LEAST_ALONE:
                yield part, HIDDEN


def _instead(word: str) -> str:
    """Return the replacement of an argument; "" if it is shown."""
    if is_secret_value(word) or _URL.search(word) or any(
        pattern.fullmatch(word) for pattern in (_HEX, _BASE64, _TOKEN)
    ):  # fmt: skip
        return HIDDEN
    is_path = "/" in word and not _SHORT_NUMBER.fullmatch(word) and not _UNIT.fullmatch(word)
    return PATH if is_path or word.startswith("~") else ""


def _secret(name: str, sign: str, value: str) -> Iterator[tuple[str, str]]:
    yield f"{name}{sign}{value}", f"{name}{sign}{HIDDEN}"
    yield shell_text([f"{name}{sign}{value}"]), f"{name}{sign}{HIDDEN}"
    if sign == " ":
        yield shell_text([name, value]), f"{name} {HIDDEN}"
    yield from _alone(value)


def _alone(value: str) -> Iterator[tuple[str, str]]:
    """Yield the value of a secret, and the part after the colon of `USER:VALUE`, to be replaced everywhere."""
    for one in (value, value.partition(":")[2]):
        if len(one) >= LEAST_ALONE and one.lower() not in _PLAIN and not _SHORT_NUMBER.fullmatch(one):
            yield one, HIDDEN


def _replacing(found: Mapping[str, str]) -> Callable[[str], str]:
    """Return what replaces texts, however they are quoted, the longest first; and what is left of one that was cut."""
    every: dict[str, str] = {}
    for text, shown in found.items():
        every |= dict.fromkeys(_spellings(text), shown)
    longest = sorted(every, key=len, reverse=True)
    pattern = re.compile("|".join(map(_bounded, longest))) if longest else None
    if pattern:  # a name in front of a secret may be a secret itself
        names = {text: shown.removesuffix(HIDDEN) for text, shown in every.items() if shown.endswith(HIDDEN)}
        every |= {text: pattern.sub(lambda one: every[one[0]], name) + HIDDEN for text, name in names.items()}

    def hide(text: str) -> str:
        if pattern:
            text = pattern.sub(lambda one: every[one[0]], text)
            text = _without_cut(text, longest, every)
        for secret in _IN_TEXT:
            text = secret.sub(lambda one: f"{one[1]}{HIDDEN}", text)
        return text

    return hide


def _spellings(text: str) -> Sequence[str]:
    """Return the text unquoted, and as JSON, Python and shells quote it."""
    quoted = shell_text([text])
    spelled = (
        text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1], repr(text)[1:-1],
        quoted.removeprefix("$")[1:-1] if quoted.endswith("'") else quoted, " ".join(text.split()),
    )  # fmt: skip
    twice = tuple(json.dumps(one, ensure_ascii=False)[1:-1] for one in spelled)
    return tuple(one for one in dict.fromkeys((*spelled, *twice)) if one)


def _bounded(text: str) -> str:
    """Return the pattern of a text; a short text is not replaced inside a longer word."""
    inside = len(text) >= LEAST_INSIDE
    before = "" if inside or not re.match(r"\w", text) else r"(?<![\w-])"
    after = "" if inside or not re.search(r"\w\Z", text) else r"(?![\w-])"
    return f"{before}{re.escape(text)}{after}"


def _without_cut(text: str, longest: Sequence[str], shown: Mapping[str, str]) -> str:
    """Return the text without the beginnings of removed texts before `…`."""
    pieces = text.split("…")
    for number, piece in enumerate(pieces[:-1]):
        for one in longest:
            most = min(len(one), len(piece))
            cut = next((n for n in range(most, LEAST_CUT - 1, -1) if piece.endswith(one[:n])), 0)
            if cut:
                pieces[number] = piece[:-cut] + shown[one]
                break
    return "…".join(pieces)
