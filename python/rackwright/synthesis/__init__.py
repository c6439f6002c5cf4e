"""Synthesis of units to gates: depth, area and clock of their logic.

The steps of a request: `flow` elaborates a unit and divides its Verilog (`verilog`, `memories`, `pieces`),
`mapping` maps each piece to gates, `timing` finds the longest paths through all of them, `figures` computes
results by the rules of `process`.
"""
