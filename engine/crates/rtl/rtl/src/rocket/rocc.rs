//! Adds a port for commands to the Verilog of the core, which was generated without one.

use crate::RtlError;
use std::path::Path;

/// Declarations of the port: what the host drives and samples (`rocket/rocc.h`).
const DECLARATIONS: &str = "
  wire [31:0] id_decoded;
  wire id_rocc, ex_rocc, id_rocc_wxd, id_rocc_busy, rocc_request, muldiv_ready, muldiv_valid;
  wire [63:0] muldiv_data;
  wire [4:0] muldiv_tag;
  reg mem_rocc, wb_rocc, rocc_ready, rocc_busy, rocc_response_valid;
  reg [3:0] rocc_opcodes;
  reg [63:0] rocc_response_data;
  reg [4:0] rocc_response_rd;
";

/// Custom instructions of the offered opcodes take the path of divisions through the pipeline, with the same hazards,
/// and their values that of quotients. `xd` decides whether there is a value.
const LOGIC: &str = "
  wire [31:0] id_inst = ibuf_io_inst_0_bits_inst_bits;
  assign id_rocc = id_inst[3:0] == 4'hb & id_inst[4] == id_inst[6] & rocc_opcodes[id_inst[6:5]];
  assign id_decoded = id_rocc ? {7'h01, id_inst[24:15], 3'h4, id_inst[11:7], 7'h33} : id_inst;
  assign id_rocc_wxd = ~id_rocc | id_inst[14];
  assign ex_rocc = ex_reg_inst[3:0] == 4'hb & ex_reg_inst[4] == ex_reg_inst[6];
  assign rocc_request = div_io_req_valid & ex_rocc & rocc_ready;
  assign id_rocc_busy = rocc_busy | ex_reg_valid & ex_rocc | mem_reg_valid & mem_rocc | wb_reg_valid & wb_rocc;
  assign div_io_req_ready = ex_rocc ? rocc_ready : muldiv_ready;
  assign div_io_resp_valid = rocc_response_valid | muldiv_valid;
  assign div_io_resp_bits_data = rocc_response_valid ? rocc_response_data : muldiv_data;
  assign div_io_resp_bits_tag = rocc_response_valid ? rocc_response_rd : muldiv_tag;
  always @(posedge clock) begin
    mem_rocc <= ex_rocc;
    wb_rocc <= mem_rocc;
  end
endmodule";

/// What is replaced, each exactly once, in the module of the core.
const REPLACEMENTS: &[(&str, &str)] = &[
    // Whether there is a value.
    (
        "= id_ctrl_decoder_22 & id_waddr",
        "= id_ctrl_decoder_22 & id_rocc_wxd & id_waddr",
    ),
    (
        "ex_ctrl_wxd <= id_ctrl_decoder_22;",
        "ex_ctrl_wxd <= id_ctrl_decoder_22 & id_rocc_wxd;",
    ),
    // Commands wait until they are accepted, as divisions do for the divider.
    (
        "= id_ctrl_decoder_21 & (~(div_io_req_ready",
        "= id_ctrl_decoder_21 & (id_rocc ? ~rocc_ready : ~(div_io_req_ready",
    ),
    // Fences wait for units.
    (
        "id_do_fence_x9 = id_mem_busy & (",
        "id_do_fence_x9 = id_ctrl_decoder_25 & id_rocc_busy | id_mem_busy & (",
    ),
    // The divider has its own share of its port.
    (".io_req_ready(div_io_req_ready)", ".io_req_ready(muldiv_ready)"),
    (
        ".io_req_valid(div_io_req_valid)",
        ".io_req_valid(div_io_req_valid & ~ex_rocc)",
    ),
    (".io_kill(div_io_kill)", ".io_kill(div_io_kill & ~mem_rocc)"),
    (
        ".io_resp_ready(div_io_resp_ready)",
        ".io_resp_ready(div_io_resp_ready & ~rocc_response_valid)",
    ),
    (
        ".io_resp_valid(div_io_resp_valid)",
        ".io_resp_valid(muldiv_valid)",
    ),
    (
        ".io_resp_bits_data(div_io_resp_bits_data)",
        ".io_resp_bits_data(muldiv_data)",
    ),
    (
        ".io_resp_bits_tag(div_io_resp_bits_tag)",
        ".io_resp_bits_tag(muldiv_tag)",
    ),
    ("endmodule", LOGIC),
];

const MODULE: &str = "\nmodule Rocket(";
const INSTRUCTION: &str = "ibuf_io_inst_0_bits_inst_bits";

/// The Verilog of `file` with a port for commands in each core.
///
/// # Errors
/// [`RtlError::Rocket`] when it is not the Verilog that the port is made for.
pub(super) fn with_commands(file: &Path, verilog: &str) -> Result<String, RtlError> {
    let unknown = |text: &str| RtlError::Rocket {
        path: file.to_path_buf(),
        text: text.trim().to_owned(),
    };
    let (before, rest) = verilog.split_once(MODULE).ok_or_else(|| unknown(MODULE))?;
    let end = rest.find("endmodule").ok_or_else(|| unknown("endmodule"))? + "endmodule".len();
    let (core, after) = rest.split_at(end);
    let mut core: String = core.split_inclusive('\n').map(with_decoder).collect();
    for (text, replacement) in REPLACEMENTS {
        if core.matches(text).count() != 1 {
            return Err(unknown(text));
        }
        core = core.replace(text, replacement);
    }
    Ok([before, MODULE, &core, after].concat())
}

/// A line of the core: its decoder decodes custom instructions as divisions.
fn with_decoder(line: &str) -> String {
    let declares = line
        .trim_start()
        .starts_with("wire [31:0] ibuf_io_inst_0_bits_inst_bits;");
    if declares {
        return line.to_owned() + DECLARATIONS;
    }
    if line.contains(" _id_ctrl_decoder_") {
        return line.replace(INSTRUCTION, "id_decoded");
    }
    line.to_owned()
}
