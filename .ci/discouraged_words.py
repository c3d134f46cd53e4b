"""Fail if a text of the project uses a discouraged word; `.ci/discouraged_words.toml` has the words and the exceptions.

Identifiers are split at underscores, so that `told_by` contains "told".
"""

import re
import subprocess
import sys
import tomllib
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path

SUFFIXES = (".py", ".cpp", ".hpp", ".md", ".toml", ".jinja", ".js", ".css", ".cmake")
NAMES = ("CMakeLists.txt", "Makefile")
LISTS = Path(__file__).with_suffix(".toml")


def find_words(text: str, words: list[str]) -> list[tuple[int, str, str]]:
    """Return line number, word and line of each discouraged word; the words of a phrase may be on two lines."""
    joined = "|".join(re.escape(word).replace(r"\ ", r"\s+(?:#\s+|//\s+)?") for word in words)
    pattern = re.compile(rf"(?<![A-Za-z])(?:{joined})(?![A-Za-z])", re.IGNORECASE)
    found = []
    for match in pattern.finditer(text):
        number = text.count("\n", 0, match.start()) + 1
        word = re.sub(r"[\s#/]+", " ", match[0]).lower()
        found.append((number, word, text.splitlines()[number - 1].strip()))
    return found


def main() -> int:
    """Print each discouraged word, and each exception that is not needed; return the exit status."""
    lists = tomllib.loads(LISTS.read_text(encoding="utf-8"))
    words, exceptions = lists["words"], lists["exceptions"]
    used: Counter[int] = Counter()
    wrong = 0
    command = ["git", "ls-files", *sys.argv[1:]]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        path = Path(name)
        if path.suffix not in SUFFIXES and path.name not in NAMES:
            continue
        if not path.is_file() or any(fnmatch(name, one) for one in lists["skip"]):
            continue
        for number, word, line in find_words(path.read_text(encoding="utf-8"), list(words)):
            allowed = [
                index
                for index, one in enumerate(exceptions)
                if fnmatch(name, one["path"]) and one.get("word", word) == word and one.get("text", "") in line
            ]
            used.update(allowed)
            if not allowed:
                wrong += 1
                print(f"{name}:{number}: '{word}' (write {words[word]}): {line[:100]}")
    for index, one in enumerate(exceptions):
        if not used[index]:
            wrong += 1
            print(f"{LISTS.name}: no text needs the exception {one}; remove it")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
