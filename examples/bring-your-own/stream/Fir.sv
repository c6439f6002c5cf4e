// A finite impulse response filter: each sample that comes by s_axis, signed with 15 bits after the point, leaves by
// m_axis as the sum of the last TAPS samples of its frame, each times a coefficient. Coefficients are registers behind
// AXI4-Lite.
module Fir #(
    parameter int TAPS = 8
) (
    input  logic        aclk,
    input  logic        aresetn,

    input  logic [11:0] s_axi_awaddr,
    input  logic        s_axi_awvalid,
    output logic        s_axi_awready,
    input  logic [31:0] s_axi_wdata,
    input  logic [3:0]  s_axi_wstrb,
    input  logic        s_axi_wvalid,
    output logic        s_axi_wready,
    output logic [1:0]  s_axi_bresp,
    output logic        s_axi_bvalid,
    input  logic        s_axi_bready,
    input  logic [11:0] s_axi_araddr,
    input  logic        s_axi_arvalid,
    output logic        s_axi_arready,
    output logic [31:0] s_axi_rdata,
    output logic [1:0]  s_axi_rresp,
    output logic        s_axi_rvalid,
    input  logic        s_axi_rready,

    input  logic [15:0] s_axis_tdata,
    input  logic        s_axis_tvalid,
    output logic        s_axis_tready,
    input  logic        s_axis_tlast,
    output logic [15:0] m_axis_tdata,
    output logic        m_axis_tvalid,
    input  logic        m_axis_tready,
    output logic        m_axis_tlast
);
    localparam int INDEX = $clog2(TAPS);

    logic signed [15:0] coefficient[TAPS];
    logic signed [15:0] past[TAPS - 1];  // samples of the frame, the latest first
    logic signed [34:0] sum;

    always_comb begin
        sum = 35'(coefficient[0]) * 35'(signed'(s_axis_tdata));
        for (int i = 1; i < TAPS; i++) sum += 35'(coefficient[i]) * 35'(past[i - 1]);
    end

    assign s_axis_tready = !m_axis_tvalid || m_axis_tready;
    always_ff @(posedge aclk) begin
        if (s_axis_tready) begin
            m_axis_tvalid <= s_axis_tvalid;
            m_axis_tdata  <= sum[30:15];
            m_axis_tlast  <= s_axis_tlast;
        end
        if (s_axis_tvalid && s_axis_tready) begin
            for (int i = 0; i < TAPS - 1; i++) begin
                past[i] <= s_axis_tlast ? '0 : i == 0 ? signed'(s_axis_tdata) : past[i - 1];
            end
        end
        if (!aresetn) begin
            m_axis_tvalid <= 1'b0;
            for (int i = 0; i < TAPS - 1; i++) past[i] <= '0;
        end
    end

    // One access at a time; a write is taken when address and data are there.
    assign s_axi_awready = s_axi_awvalid && s_axi_wvalid && !s_axi_bvalid;
    assign s_axi_wready  = s_axi_awready;
    assign s_axi_arready = !s_axi_rvalid;
    assign s_axi_bresp   = 2'b00;
    assign s_axi_rresp   = 2'b00;
    always_ff @(posedge aclk) begin
        if (s_axi_bready) s_axi_bvalid <= 1'b0;
        if (s_axi_rready) s_axi_rvalid <= 1'b0;
        if (s_axi_awready) begin
            s_axi_bvalid <= 1'b1;
            coefficient[s_axi_awaddr[2 +: INDEX]] <= s_axi_wdata[15:0];
        end
        if (s_axi_arvalid && s_axi_arready) begin
            s_axi_rvalid <= 1'b1;
            s_axi_rdata  <= 32'(coefficient[s_axi_araddr[2 +: INDEX]]);
        end
        if (!aresetn) begin
            s_axi_bvalid <= 1'b0;
            s_axi_rvalid <= 1'b0;
        end
    end
    wire unused = &{1'b0, s_axi_wstrb, s_axi_wdata[31:16], s_axi_awaddr, s_axi_araddr, sum[34:31], sum[14:0]};
endmodule
