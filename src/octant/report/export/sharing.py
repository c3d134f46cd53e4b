"""Redaction of shared reports: names of users and hosts, and paths of files."""

from __future__ import annotations

import contextlib
import getpass
import os
import pwd
import re
import socket
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from octant.report.export import redaction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from octant.store import StoredRun

_PUBLIC = "/(?:proc|sys(?!/fs/cgroup/))/"  # the same on every machine; control groups name users and jobs
# Not inside a word (`B/s`), a fraction, an end tag or the address of a page.
_PATH = re.compile(rf"(?<![\w.)<])(?<!:/)(?!//|{_PUBLIC})(?:~|\.\.?)?/[^\s\"'`,;:()<>|]*\w[^\s\"'`,;:()<>|]*")
_HOME = re.compile(r"/(?:home|users)/([\w.-]+)", re.IGNORECASE)
_IN_MARKUP = re.compile(r'(?<=>)[^<]+|(?<==")[^"<]+(?=")')
_COMMON = frozenset({"", "localhost", "(none)"})


def cleaner(run: StoredRun) -> Callable[[str], str]:
    """Return a function that removes user names, host names, paths and secrets of programs from a text of this run."""
    hide = redaction.hider(run)
    hosts, users = _hosts(run), _users(run)
    words = {**dict.fromkeys(users, "user"), **{name: f"host {n + 1}" for n, name in enumerate(hosts)}}
    every = sorted(words, key=len, reverse=True)  # the full name of a host before its first part
    known = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, every))})(?![\w-])") if every else None

    def clean(text: str) -> str:
        text = _PATH.sub(redaction.PATH, hide(text))
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
