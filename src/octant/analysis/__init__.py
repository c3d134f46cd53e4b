"""Analysis of records: figures with limits and caveats, comparisons of runs, models of messages."""
