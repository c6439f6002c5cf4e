"""The demo: Snappy in software and in hardware, side by side.

`archive` selects the input, `measure` runs every target, `rows` has the results, `charts` and `report` show
them.
"""
