"""The colours of pages and pictures, by role: contrast 4.5 for text and 3 for marks against paper, light and dark.

Two series are blue and orange, at least 79 apart (CIE 1976) for every simulated colour deficiency; others need their
own mark and dash, and a label. No information is in colour alone.
"""

from typing import NamedTuple


class Colour(NamedTuple):
    """One role in both schemes."""

    light: str
    dark: str


COLOURS: dict[str, Colour] = {
    "paper": Colour("#ffffff", "#14171a"),
    "raised": Colour("#f6f7f8", "#1c2024"),
    "ink": Colour("#16191d", "#e8eaed"),
    "soft": Colour("#555c65", "#a7aeb6"),  # second text
    "grey": Colour("#7b838c", "#7d858e"),  # axes, limits, bars that are no share of a limit
    "line": Colour("#c9ced4", "#3a4149"),  # decoration only
    "faint": Colour("#e9ecef", "#262b30"),
    "series-1": Colour("#0b5a9d", "#7ab8f5"),  # and shares of limits
    "series-2": Colour("#b34700", "#f5a25d"),  # and lost time
    "series-3": Colour("#00695a", "#5fd0b8"),  # and good verdicts
    "series-4": Colour("#8a3a7c", "#e0a3d6"),
    "limited": Colour("#8a4b00", "#f0b45a"),
    "wrong": Colour("#b3261e", "#ff9a90"),
}
"""Role to colours; a page has each as the CSS variable `--role`."""


def variables(scheme: str) -> str:
    """Return the CSS declarations of a scheme, `light` or `dark`: `--ink: #16191d; …`."""
    return " ".join(f"--{role}: {getattr(colour, scheme)};" for role, colour in COLOURS.items())
