"""The parts of a server: harts, units, devices, with their addresses, interrupts and clocks."""
