"""Synthesis of units to gates: how deep, how large and how fast their logic is.

The way of a request: `flow` elaborates a unit and cuts its Verilog (`verilog`, `memories`, `pieces`),
`mapping` turns each piece into gates, `timing` finds the longest paths through all of them, `figures` makes
figures of them by the rules of `process`.
"""
