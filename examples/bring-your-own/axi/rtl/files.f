+incdir+include
dma_pkg.sv
CopyDma.sv
