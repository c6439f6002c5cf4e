"""The command line: one file per verb; `output` has their common parts."""
