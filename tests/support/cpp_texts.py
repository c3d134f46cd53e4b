"""The string literals of C++ sources, joined to the texts that users see, for `user_texts.py`.

Literals of one expression (adjacent ones, and operands of `+` and `<<`) form one text. Other operands become
placeholders: `"cannot read " + path + " (" + why() + ")"` is `cannot read {path} ({why()})`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"""
    (?P<skip> \s+ | //[^\n]* | /\*.*?\*/ | \#(?:[^\n\\]|\\.)* )
  | (?P<raw> (?:u8|[uUL])?R"(?P<mark>[^(\s]*)\((?P<rawtext>.*?)\)(?P=mark)" )
  | (?P<literal> (?:u8|[uUL])?"(?P<text>(?:[^"\\\n]|\\.)*)" )
  | (?P<character> '(?:[^'\\\n]|\\.)+' )
  | (?P<name> [A-Za-z_]\w* )
  | (?P<number> \.?\d(?:'?[\w.])* )
  | (?P<sign> <<=? | >>=? | -> | :: | \+\+ | -- | [-+*/%&|^<>=!]= | && | \|\| | . )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_SEPARATORS = frozenset(
    {",", ";", "=", "+=", "==", "!=", "&&", "||", "?", ":", "}", "return", "throw", "case", "extern"}
)
_CONVERSIONS = frozenset({"", "std::string", "std::to_string"})
"""Functions whose operand is shown without their name."""
_CODE_CALLS = frozenset({"asm", "asm volatile", "static_assert"})
"""What has strings that are no texts for users."""
_ESCAPES = {"n": " ", "t": " ", "0": ""}
_LONGEST_PLACEHOLDER = 30


def _tokens(source: str) -> list[tuple[str, str]]:
    """Return the tokens; the first element is "literal" for string literals, whose text is unescaped."""
    found = []
    for match in _TOKEN.finditer(source):
        if match["raw"] is not None:
            found.append(("literal", match["rawtext"]))
        elif match["literal"] is not None:
            found.append(("literal", re.sub(r"\\(.)", lambda one: _ESCAPES.get(one[1], one[1]), match["text"])))
        elif match["skip"] is None:
            found.append(("other", match[0]))
    return found


@dataclass
class _Expression:
    """A concatenation: its literals, and the source text of all other operands."""

    start: int  # index of the first token
    parts: list[str] = field(default_factory=list)
    operand: str = ""  # source of an operand whose end is not reached yet
    has_literal: bool = False

    def add(self, source: str) -> None:
        """Append a token to the operand; `+` and `<<` end it."""
        if source == "<<" and not self.parts:
            self.operand = ""  # the stream
        elif source in ("+", "<<"):
            self.end_operand()
        else:
            between_words = self.operand[-1:].isidentifier() and source[0].isidentifier()
            self.operand += " " * between_words + source

    def end_operand(self) -> None:
        """Append the placeholder of the operand."""
        if self.operand:
            is_short = len(self.operand) <= _LONGEST_PLACEHOLDER and '"' not in self.operand
            self.parts.append(f"{{{self.operand if is_short else '…'}}}")
        self.operand = ""

    def add_text(self, text: str) -> None:
        """Append a literal."""
        self.end_operand()
        self.parts.append(text)
        self.has_literal = True

    def render(self) -> str:
        """Return the text with placeholders."""
        self.end_operand()
        return "".join(self.parts)


class _Parser:
    """Collects the texts of all expressions, inside brackets too."""

    def __init__(self, source: str) -> None:
        self.tokens = _tokens(source)
        self.at = 0
        self.found: list[tuple[int, str]] = []

    def parse_until(self, closing: str) -> tuple[list[_Expression], str]:
        """Parse to the closing bracket; return the last expression (one per case of `a ? b : c`) and the source."""
        cases, source = [_Expression(self.at)], ""
        while self.at < len(self.tokens):
            kind, sign = self.tokens[self.at]
            self.at += 1
            if kind == "literal":
                cases[-1].add_text(sign)
                source += '"'
                continue
            source += sign
            if sign == closing:
                break
            if sign == "{" and cases[-1].has_literal and not cases[-1].operand:  # extern "C" {
                self.keep(cases)
                cases = [_Expression(self.at)]
            if sign in _CLOSING:
                source += self._parse_brackets(cases[-1], sign)
            elif sign == "?" and not cases[-1].has_literal:
                cases[-1] = _Expression(self.at)
            elif sign == ":" and source.count("?"):
                cases.append(_Expression(self.at))
            elif sign in _SEPARATORS:
                self.keep(cases)
                cases, source = [_Expression(self.at)], ""
            else:
                cases[-1].add(sign)
        return cases, source

    def _parse_brackets(self, expression: _Expression, opening: str) -> str:
        """Parse brackets; parentheses around a text, and conversions to a string, continue the expression."""
        kept = len(self.found)
        cases, source = self.parse_until(_CLOSING[opening])
        if expression.operand in _CODE_CALLS:
            del self.found[kept:]
            return source
        if opening == "(" and expression.operand in _CONVERSIONS and any(one.has_literal for one in cases):
            expression.operand = ""
            texts = [text for one in cases if (text := one.render())]
            expression.add_text(texts[0] if len(cases) == 1 else "{" + " | ".join(texts) + "}")
            return source
        self.keep(cases)
        if opening == "(" and expression.operand in _CONVERSIONS:
            expression.operand = source[:-1]
        else:
            expression.operand += opening + source
        return source

    def keep(self, cases: list[_Expression]) -> None:
        """Collect the texts of complete expressions."""
        self.found += [(one.start, one.render()) for one in cases if one.has_literal]


def texts_of(source: str) -> Iterator[str]:
    """Yield the texts of C++ source code in their order."""
    parser = _Parser(source)
    while parser.at < len(parser.tokens):
        parser.keep(parser.parse_until("")[0])
    yield from (text for _, text in sorted(parser.found))
