"""The first screen of a report on a run, as data and for the terminal."""
