// Counts the one bits of a buffer in memory, 16 bytes per cycle.
//
// Commands (custom-3): 0 COUNT(rs1 address, rs2 bytes); 1 RESULT, answers the count; 2 STATUS, answers
// how the last count ended. A command is taken when the one before it has ended, so RESULT waits.
//
// The order in which bits are counted does not matter, so responses are used in whatever order
// memory gives them. All that a tag has to remember is which bytes of its beat belong to the buffer.
// OUTSTANDING is how many of the port's tags are used: 2, 4, 8 or 16.
module PopulationCount #(
    parameter  int OUTSTANDING = 16,
    localparam int BYTES = 16,
    localparam int TAG_BITS = 4
) (
    input  logic                clock,
    input  logic                reset,

    output logic                command_request_ready,
    input  logic                command_request_valid,
    input  logic [1:0]          command_request_bits_opcode,
    input  logic [6:0]          command_request_bits_funct,
    input  logic [63:0]         command_request_bits_rs1,
    input  logic [63:0]         command_request_bits_rs2,
    input  logic [4:0]          command_request_bits_rd,
    input  logic                command_request_bits_xd,
    input  logic                command_response_ready,
    output logic                command_response_valid,
    output logic [4:0]          command_response_bits_rd,
    output logic [63:0]         command_response_bits_data,

    input  logic                read_request_ready,
    output logic                read_request_valid,
    output logic [63:0]         read_request_bits_address,
    output logic                read_request_bits_write,
    output logic [8*BYTES-1:0]  read_request_bits_data,
    output logic [BYTES-1:0]    read_request_bits_mask,
    output logic [TAG_BITS-1:0] read_request_bits_tag,
    output logic                read_response_ready,
    input  logic                read_response_valid,
    input  logic [TAG_BITS-1:0] read_response_bits_tag,
    input  logic [8*BYTES-1:0]  read_response_bits_data,
    input  logic                read_response_bits_fault,

    output logic                idle,
    output logic                event_beat
);
    localparam int INDEX_BITS = $clog2(OUTSTANDING);

    if (!(OUTSTANDING inside {2, 4, 8, 16})) begin : refuse
        $error("OUTSTANDING must be 2, 4, 8 or 16");
    end

    typedef enum logic [6:0] {COUNT = 0, RESULT = 1, STATUS = 2} command_e;
    typedef enum logic [2:0] {OK = 0, ACCESS_FAULT = 4} status_e;

    // One past the last byte; 65 bits, so that a buffer that wraps around can be told.
    wire [64:0] end_of_buffer = {1'b0, command_request_bits_rs1} + {1'b0, command_request_bits_rs2};
    wire        wraps         = end_of_buffer > {1'b1, 64'b0};

    logic [63:0] address;     // of the next byte to ask for
    logic [63:0] remaining;   // bytes still to ask for
    logic [63:0] total;
    status_e     status;
    logic [OUTSTANDING-1:0] busy;                 // tags whose response is outstanding
    logic [BYTES-1:0]       wanted[OUTSTANDING];  // bytes of the beat that belong to the buffer
    logic [INDEX_BITS-1:0]  next_tag;
    wire  [INDEX_BITS-1:0]  answered = read_response_bits_tag[INDEX_BITS-1:0];

    wire working = remaining != 0 || busy != 0;
    assign idle  = !working && !command_response_valid;

    // A beat holds the buffer's bytes from `offset` on, as many as fit or are left.
    wire [3:0] offset = address[3:0];
    wire [4:0] room   = 5'd16 - {1'b0, offset};
    wire [4:0] taken  = remaining < {59'b0, room} ? remaining[4:0] : room;
    wire [BYTES-1:0] bytes_of_beat = BYTES'((32'd1 << taken) - 1) << offset;

    assign read_request_valid        = remaining != 0 && !busy[next_tag];
    assign read_request_bits_address = {address[63:4], 4'b0};
    assign read_request_bits_write   = 1'b0;
    assign read_request_bits_data    = '0;
    assign read_request_bits_mask    = '0;
    assign read_request_bits_tag     = TAG_BITS'(next_tag);
    assign read_response_ready       = 1'b1;
    assign event_beat                = read_response_valid;

    wire asked   = read_request_valid && read_request_ready;
    wire command = command_request_valid && command_request_ready;
    assign command_request_ready = idle;

    function automatic logic [63:0] ones(logic [8*BYTES-1:0] data, logic [BYTES-1:0] mask);
        ones = 0;
        for (int i = 0; i < BYTES; i++) begin
            if (mask[i]) ones += 64'($countones(data[8*i +: 8]));
        end
    endfunction

    always_ff @(posedge clock) begin
        if (asked) begin
            busy[next_tag]   <= 1'b1;
            wanted[next_tag] <= bytes_of_beat;
            next_tag         <= next_tag + 1'b1;
            address          <= address + {59'b0, taken};
            remaining        <= remaining - {59'b0, taken};
        end
        if (read_response_valid) begin
            busy[answered] <= 1'b0;
            if (read_response_bits_fault) status <= ACCESS_FAULT;
            else total <= total + ones(read_response_bits_data, wanted[answered]);
        end
        if (command && command_request_bits_funct == COUNT) begin
            address   <= command_request_bits_rs1;
            remaining <= wraps ? 64'b0 : command_request_bits_rs2;
            total     <= 64'b0;
            status    <= wraps ? ACCESS_FAULT : OK;
        end
        if (command_response_ready) command_response_valid <= 1'b0;
        if (command && command_request_bits_xd) begin
            command_response_valid     <= 1'b1;
            command_response_bits_rd   <= command_request_bits_rd;
            command_response_bits_data <= command_request_bits_funct == RESULT ? total
                                        : command_request_bits_funct == STATUS ? 64'(status) : '1;
        end
        if (reset) begin
            busy                   <= '0;
            remaining              <= 64'b0;
            total                  <= 64'b0;
            status                 <= OK;
            next_tag               <= '0;
            command_response_valid <= 1'b0;
        end
    end

    // The engine gives this unit no other opcode than the one in its manifest.
    wire unused = &{1'b0, command_request_bits_opcode, read_response_bits_tag};
endmodule
