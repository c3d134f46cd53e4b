"""All texts that users can see, collected from the sources, for `tests/test_user_texts.py`.

python tests/support/user_texts.py    writes tests/data/user-visible-texts.txt anew
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import cpp_texts
from module_graph import tree_of
from paths import DATA, ROOT

LISTED = DATA / "user-visible-texts.txt"
SOURCES = ROOT / "src" / "octant"
CODE_CALLS = frozenset({"compile", "match", "fullmatch", "search", "sub", "findall", "finditer", "split", "Meta"})
"""Calls whose strings are regular expressions or other code."""
SKIPPED_KEYS = frozenset({"command", "expression", "pattern", "regex", "source", "url", "quote", "knobs", "example"})
"""Keys of TOML files whose strings are not sentences of Octant."""
_SENTENCE = re.compile(r"[A-Za-z]{2,}[,;:]? [A-Za-z(`'{]")
_JINJA = re.compile(
    r"\{#.*?#\}|\{%-?\s*(?:set|import|from|macro|call|extends|block|end\w+|for|include).*?%\}", re.DOTALL
)
_TAG = re.compile(r"<[^>]*>")


def _python_texts(path: Path) -> Iterator[str]:
    """Yield the string constants of a Python file that contain words, without docstrings and regular expressions."""
    tree = tree_of(path)
    left_out: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            left_out.add(node.value)
        elif isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in CODE_CALLS:
                left_out.update(one for argument in node.args for one in ast.walk(argument))
        elif isinstance(node, ast.JoinedStr):
            left_out.update(node.values)
    for node in ast.walk(tree):
        if node in left_out:
            continue
        if isinstance(node, ast.JoinedStr):
            parts = (
                f"{{{ast.unparse(one.value)}}}" if isinstance(one, ast.FormattedValue) else ast.literal_eval(one)
                for one in node.values
            )
            yield "".join(parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _toml_texts(value: object) -> Iterator[str]:
    """Yield the strings of a TOML document, of lists and of tables in it."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _toml_texts(one)
    elif isinstance(value, dict):
        for key, one in value.items():
            if key not in SKIPPED_KEYS:
                yield from _toml_texts(one)


def _texts(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        yield from _python_texts(path)
    elif path.suffix == ".toml":
        yield from _toml_texts(tomllib.loads(text))
    elif path.suffix == ".jinja":
        yield from _TAG.sub("\n", _JINJA.sub("", text)).splitlines()
    else:
        yield from cpp_texts.texts_of(text)


def collect() -> str:
    """Return the texts by file; each text is on one line, with a placeholder {…} for each value that it contains."""
    paths = [
        path
        for path in [*SOURCES.rglob("*"), *(ROOT / "native").rglob("*")]
        if path.suffix in (".py", ".toml", ".jinja", ".cpp", ".hpp")
        and not path.name.startswith("test_")
        and "tests" not in path.parts[len(ROOT.parts) :]
    ]
    sections = []
    for path in sorted(paths):
        lines = (" ".join(text.split()) for text in _texts(path))
        if found := list(dict.fromkeys(line for line in lines if _SENTENCE.search(line))):
            sections.append(f"== {path.relative_to(ROOT)}\n" + "".join(f"{line}\n" for line in found))
    return "\n".join(sections)


if __name__ == "__main__":
    LISTED.write_text(collect(), encoding="utf-8")
