"""The demo: Snappy in software and in hardware, side by side.

`archive` chooses the input, `measure` runs every target, `rows` holds what came out, `charts` and
`report` show it.
"""
