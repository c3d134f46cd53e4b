"""`python -m octant.cli`: the command without an installation."""

from octant.cli import main

if __name__ == "__main__":
    main()
