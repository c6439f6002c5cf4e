"""What a server is made of: harts, units, devices, with their addresses, interrupts and clocks."""
