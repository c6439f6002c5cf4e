// What the parts of the DMA share.
package dma_pkg;
    typedef enum logic [2:0] {IDLE, ASK, READ, OFFER, WRITE, CONFIRM} state_e;

    localparam logic [1:0] INCREMENTING = 2'b01;
    localparam logic [1:0] OKAY = 2'b00;
    localparam int PAGE = 4096; // no burst goes over a multiple of it
endpackage
