"""One rule a file: a docstring that is its page, and `advise(facts)` that says something or nothing."""
