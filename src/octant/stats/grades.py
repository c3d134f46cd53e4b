"""Grades of figures, tiles and rows as words and signs."""

from typing import Literal, TypeAlias

GradeName: TypeAlias = Literal["reliable", "note", "limited", "not measurable", "wrong"]
"""Grade of a figure, tile or row."""
SIGNS: dict[GradeName, str] = {"reliable": "✓", "note": "i", "limited": "!", "not measurable": "×", "wrong": "✗"}
GRADE_NAMES: tuple[GradeName, ...] = tuple(SIGNS)
"""Grades from best to worst. The first has no `Grade`; the next three are those of `Grade`, in its order."""
