use crate::router::{funct, inputs, OPCODE};
use crate::shape::Shape;
use rackwright_rtl::Manifest;
use serde_json::{json, Value};

/// Events of the unit, in the order of its manifest.
pub const EVENTS: [&str; 7] = [
    "busy",
    "settings",
    "steps",
    "chunks",
    "dependency_stall",
    "bank_stall",
    "transfer_stall",
];

/// The clock of the unit of the text (Wang 2025, section 3.6).
const HERTZ: u64 = 1_000_000_000;

/// The elaborated manifest of a unit of this shape, as far as the engine needs it.
pub fn manifest(shape: &Shape) -> Manifest {
    let memory = |name: &str| {
        json!({
            "contract": "memory",
            "name": name,
            "bytes": shape.port_bytes,
            // Each port is shared by two.
            "tag_bits": shape.outstanding.ilog2() + 1,
        })
    };
    let command = json!({
        "contract": "command",
        "name": "command",
        "opcodes": [OPCODE],
        "commands": commands(),
    });
    let events = EVENTS.map(|name| json!({ "contract": "event", "name": name }));
    let ports: Vec<Value> = [command, memory("read"), memory("write")]
        .into_iter()
        .chain(events)
        .collect();
    let text = json!({
        "format": 2,
        "unit": "drx",
        "top": "Drx",
        "verilog": ["Drx.sv"],
        // Parameters are those of elaboration, not of the top module.
        "hash": "model",
        "clocks": [{ "pin": "clock", "reset": "reset", "hertz": HERTZ }],
        "attach": ["hart"],
        "idle": "idle",
        "ports": ports,
        "parameters": {
            "lanes": shape.lanes,
            "scratchpad-kib": shape.scratchpad_kib,
            "banks": shape.banks,
            "instruction-kib": shape.instruction_kib,
            "loop-depth": shape.loop_depth,
            "port-bytes": shape.port_bytes,
            "outstanding": shape.outstanding,
            "command-queue": shape.command_queue,
        },
    });
    Manifest::parse(&text.to_string()).expect("it is a manifest")
}

/// The commands, by name and number, in the order of their numbers.
fn commands() -> Vec<Value> {
    let mut found = vec![
        ("sfence".to_string(), funct::FENCE),
        ("src".to_string(), funct::SOURCE),
        ("dest_and_start".to_string(), funct::START),
        ("check_completion".to_string(), funct::CHECK_COMPLETION),
    ];
    let mut next = funct::SETTINGS;
    let mut set = |name: String| {
        found.push((name, next));
        next += 1;
    };
    for input in 1..=inputs() {
        set(format!("input{input}_address"));
        set(format!("input{input}_bytes"));
    }
    set("cycle_limit".to_string());
    found.extend([
        ("limit".to_string(), funct::LIMIT),
        ("status".to_string(), funct::STATUS),
        ("output_bytes".to_string(), funct::OUTPUT_BYTES),
        ("input_offset".to_string(), funct::INPUT_OFFSET),
        ("version".to_string(), funct::VERSION),
    ]);
    let row = |(name, funct): (String, u8)| json!({ "name": name, "funct": funct });
    found.into_iter().map(row).collect()
}
