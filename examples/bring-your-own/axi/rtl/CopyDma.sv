// Copies memory, burst by burst: a manager of AXI4 that is told what to do through registers in AXI4-Lite.
//
// Addresses and bytes are multiples of a beat. A copy that memory refuses, or that is of no whole beats, ends with an
// error. Names of pins are those that tools for high-level synthesis give their kernels.
module CopyDma import dma_pkg::*; #(
    parameter int DATA_BYTES = 8,  // of a beat: 4, 8, 16 or 32
    parameter int BURST      = 16, // beats, at most 256
    localparam int DATA = 8 * DATA_BYTES
) (
    input  logic                  ap_clk,
    input  logic                  ap_rst_n,

    input  logic                  s_axi_control_awvalid,
    output logic                  s_axi_control_awready,
    input  logic [5:0]            s_axi_control_awaddr,
    input  logic                  s_axi_control_wvalid,
    output logic                  s_axi_control_wready,
    input  logic [31:0]           s_axi_control_wdata,
    input  logic [3:0]            s_axi_control_wstrb,
    output logic                  s_axi_control_bvalid,
    input  logic                  s_axi_control_bready,
    output logic [1:0]            s_axi_control_bresp,
    input  logic                  s_axi_control_arvalid,
    output logic                  s_axi_control_arready,
    input  logic [5:0]            s_axi_control_araddr,
    output logic                  s_axi_control_rvalid,
    input  logic                  s_axi_control_rready,
    output logic [31:0]           s_axi_control_rdata,
    output logic [1:0]            s_axi_control_rresp,

    output logic                  m_axi_gmem_arvalid,
    input  logic                  m_axi_gmem_arready,
    output logic [0:0]            m_axi_gmem_arid,
    output logic [63:0]           m_axi_gmem_araddr,
    output logic [7:0]            m_axi_gmem_arlen,
    output logic [2:0]            m_axi_gmem_arsize,
    output logic [1:0]            m_axi_gmem_arburst,
    input  logic                  m_axi_gmem_rvalid,
    output logic                  m_axi_gmem_rready,
    input  logic [0:0]            m_axi_gmem_rid,
    input  logic [DATA-1:0]       m_axi_gmem_rdata,
    input  logic [1:0]            m_axi_gmem_rresp,
    input  logic                  m_axi_gmem_rlast,
    output logic                  m_axi_gmem_awvalid,
    input  logic                  m_axi_gmem_awready,
    output logic [0:0]            m_axi_gmem_awid,
    output logic [63:0]           m_axi_gmem_awaddr,
    output logic [7:0]            m_axi_gmem_awlen,
    output logic [2:0]            m_axi_gmem_awsize,
    output logic [1:0]            m_axi_gmem_awburst,
    output logic                  m_axi_gmem_wvalid,
    input  logic                  m_axi_gmem_wready,
    output logic [DATA-1:0]       m_axi_gmem_wdata,
    output logic [DATA_BYTES-1:0] m_axi_gmem_wstrb,
    output logic                  m_axi_gmem_wlast,
    input  logic                  m_axi_gmem_bvalid,
    output logic                  m_axi_gmem_bready,
    input  logic [0:0]            m_axi_gmem_bid,
    input  logic [1:0]            m_axi_gmem_bresp,

    output logic                  interrupt, // until the next copy begins

    output logic                  event_beat
);
`include "dma_registers.svh"

    localparam int BEAT_BITS = $clog2(DATA_BYTES);

    state_e           state;
    logic [63:0]      source, destination;
    logic [31:0]      bytes;
    logic             done, error;
    logic [8:0]       beats, beat; // of the burst under way
    logic [DATA-1:0]  buffer[BURST];

    // Beats of the next burst: as many as fit, are left, and lie in one page of both sides.
    function automatic logic [31:0] room(logic [63:0] address);
        room = 32'(PAGE - int'(address[11:0])) >> BEAT_BITS;
    endfunction
    function automatic logic [31:0] least(logic [31:0] one, logic [31:0] other);
        least = one < other ? one : other;
    endfunction
    wire [31:0] fits = least(least(32'(BURST), bytes >> BEAT_BITS), least(room(source), room(destination)));
    wire        odd  = |{source[BEAT_BITS-1:0], destination[BEAT_BITS-1:0], bytes[BEAT_BITS-1:0]};

    // Registers: a write is done when its address and its data have come, in whatever order.
    logic        has_address, has_data;
    logic [5:0]  write_address;
    logic [31:0] write_data;
    wire         write = has_address && has_data && !s_axi_control_bvalid;
    wire         start = write && write_address == CONTROL && write_data[0] && state == IDLE;

    assign s_axi_control_awready = !has_address;
    assign s_axi_control_wready  = !has_data;
    assign s_axi_control_arready = !s_axi_control_rvalid;
    assign s_axi_control_bresp   = OKAY;
    assign s_axi_control_rresp   = OKAY;

    always_ff @(posedge ap_clk or negedge ap_rst_n) begin
        if (!ap_rst_n) begin
            has_address          <= 1'b0;
            has_data             <= 1'b0;
            s_axi_control_bvalid <= 1'b0;
            s_axi_control_rvalid <= 1'b0;
        end else begin
            if (s_axi_control_awvalid && s_axi_control_awready) begin
                has_address   <= 1'b1;
                write_address <= s_axi_control_awaddr;
            end
            if (s_axi_control_wvalid && s_axi_control_wready) begin
                has_data   <= 1'b1;
                write_data <= s_axi_control_wdata;
            end
            if (s_axi_control_bready) s_axi_control_bvalid <= 1'b0;
            if (write) begin
                has_address          <= 1'b0;
                has_data             <= 1'b0;
                s_axi_control_bvalid <= 1'b1;
            end
            if (s_axi_control_rready) s_axi_control_rvalid <= 1'b0;
            if (s_axi_control_arvalid && s_axi_control_arready) begin
                s_axi_control_rvalid <= 1'b1;
                case (s_axi_control_araddr)
                    CONTROL:            s_axi_control_rdata <= {28'b0, error, state == IDLE, done, 1'b0};
                    SOURCE:             s_axi_control_rdata <= source[31:0];
                    SOURCE + 6'd4:      s_axi_control_rdata <= source[63:32];
                    DESTINATION:        s_axi_control_rdata <= destination[31:0];
                    DESTINATION + 6'd4: s_axi_control_rdata <= destination[63:32];
                    BYTES:              s_axi_control_rdata <= bytes;
                    default:            s_axi_control_rdata <= '0;
                endcase
            end
        end
    end

    assign m_axi_gmem_arvalid = state == ASK;
    assign m_axi_gmem_arid    = '0;
    assign m_axi_gmem_araddr  = source;
    assign m_axi_gmem_arlen   = 8'(fits - 1);
    assign m_axi_gmem_arsize  = 3'(BEAT_BITS);
    assign m_axi_gmem_arburst = INCREMENTING;
    assign m_axi_gmem_rready  = state == READ;
    assign m_axi_gmem_awvalid = state == OFFER;
    assign m_axi_gmem_awid    = '0;
    assign m_axi_gmem_awaddr  = destination;
    assign m_axi_gmem_awlen   = 8'(beats - 1);
    assign m_axi_gmem_awsize  = 3'(BEAT_BITS);
    assign m_axi_gmem_awburst = INCREMENTING;
    assign m_axi_gmem_wvalid  = state == WRITE;
    assign m_axi_gmem_wdata   = buffer[$clog2(BURST)'(beat)];
    assign m_axi_gmem_wstrb   = '1;
    assign m_axi_gmem_wlast   = beat == beats - 1;
    assign m_axi_gmem_bready  = state == CONFIRM;
    assign event_beat         = m_axi_gmem_wvalid && m_axi_gmem_wready;

    assign interrupt          = done;

    wire [63:0] moved = 64'(beats) << BEAT_BITS;

    always_ff @(posedge ap_clk or negedge ap_rst_n) begin
        if (!ap_rst_n) begin
            state <= IDLE;
            done  <= 1'b0;
            error <= 1'b0;
        end else begin
            if (write && state == IDLE) begin
                case (write_address)
                    SOURCE:             source[31:0]       <= write_data;
                    SOURCE + 6'd4:      source[63:32]      <= write_data;
                    DESTINATION:        destination[31:0]  <= write_data;
                    DESTINATION + 6'd4: destination[63:32] <= write_data;
                    BYTES:              bytes              <= write_data;
                    default: ;
                endcase
            end
            case (state)
                IDLE: if (start) begin
                    done  <= bytes == 0 || odd;
                    error <= odd;
                    if (bytes != 0 && !odd) state <= ASK;
                end
                ASK: if (m_axi_gmem_arready) begin
                    beats <= 9'(fits);
                    beat  <= '0;
                    state <= READ;
                end
                READ: if (m_axi_gmem_rvalid) begin
                    buffer[$clog2(BURST)'(beat)] <= m_axi_gmem_rdata;
                    beat <= beat + 1'b1;
                    if (m_axi_gmem_rresp != OKAY) error <= 1'b1;
                    if (m_axi_gmem_rlast) begin
                        beat  <= '0;
                        done  <= error || m_axi_gmem_rresp != OKAY;
                        state <= error || m_axi_gmem_rresp != OKAY ? IDLE : OFFER;
                    end
                end
                OFFER: if (m_axi_gmem_awready) state <= WRITE;
                WRITE: if (m_axi_gmem_wready) begin
                    beat <= beat + 1'b1;
                    if (m_axi_gmem_wlast) state <= CONFIRM;
                end
                CONFIRM: if (m_axi_gmem_bvalid) begin
                    source      <= source + moved;
                    destination <= destination + moved;
                    bytes       <= bytes - 32'(moved);
                    error       <= m_axi_gmem_bresp != OKAY;
                    done        <= m_axi_gmem_bresp != OKAY || bytes == 32'(moved);
                    state       <= m_axi_gmem_bresp != OKAY || bytes == 32'(moved) ? IDLE : ASK;
                end
                default: state <= IDLE;
            endcase
        end
    end

    // Registers are written as wholes, and all transfers have one identifier.
    wire unused = &{1'b0, s_axi_control_wstrb, m_axi_gmem_rid, m_axi_gmem_bid};
endmodule
