"""The grades of figures, tiles and rows as words and signs."""

from typing import Literal, TypeAlias

GradeName: TypeAlias = Literal["reliable", "note", "limited", "not measurable", "wrong"]
"""The grade of a figure, tile or row. Signs are in `SIGNS`."""
SIGNS: dict[GradeName, str] = {"reliable": "✓", "note": "i", "limited": "!", "not measurable": "×", "wrong": "✗"}
GRADE_NAMES: tuple[GradeName, ...] = tuple(SIGNS)
"""From the best to the worst. The first is no `Grade`; the next three are those of `Grade`, in its order."""
