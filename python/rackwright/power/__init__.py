"""Power of units: what a recorded run costs, in watts and in energy for each operation.

The way of a request: `saif` reads how often the signals of the RTL changed, `wires` has every wire of the
netlist, `propagation` says how often each of them changes, `sta` asks OpenSTA for the power of each cell,
`energy` adds up and scales to the process.
"""
