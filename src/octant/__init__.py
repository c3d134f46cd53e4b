"""Octant: a performance laboratory for high-performance computers."""


def __getattr__(name: str) -> str:
    """Return `__version__`, looked up on demand: reading package metadata takes a fifth of the start of `octant`."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from octant.build import version  # noqa: PLC0415 - slow to load

    return version.number()
