"""Rules about a machine, one per file: a docstring, which is the page of the rule, and `advise(facts)`."""
