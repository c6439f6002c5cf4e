"""The command line: one file per verb, `output` for what they share."""
