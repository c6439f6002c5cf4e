// Registers of the DMA, by their byte addresses. Those of addresses are of 64 bits, in two halves.
localparam logic [5:0] CONTROL     = 6'h00; // written 1: start; read: bit 1 done, bit 2 idle, bit 3 an error
localparam logic [5:0] SOURCE      = 6'h10;
localparam logic [5:0] DESTINATION = 6'h18;
localparam logic [5:0] BYTES       = 6'h20;
