"""Studies: questions as files, their plans of launches, and the verdicts on findings."""
