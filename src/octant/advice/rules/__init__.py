"""One rule per file: a docstring, which is its page, and `advise(facts)`, which returns advice or nothing."""
