"""Octant: a performance laboratory for high-performance computers."""


def __getattr__(name: str) -> str:
    """`__version__`, looked up when somebody asks: reading package metadata takes a fifth of the start of `octant`."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - slow to load

    try:
        return version("octant-hpc")
    except PackageNotFoundError:  # a source tree that was never installed
        return "0+source"
