//! Makes constants of the maps that hardware and software read as well.

use serde::Deserialize;
use std::fmt::Write;
use std::path::Path;

/// The module of each map, and its folder among the resources of `hardware/`.
const MAPS: [(&str, &str); 4] = [
    ("nic", "nic"),
    ("virtio", "nic/virtio"),
    ("daronpon", "daronpon"),
    ("traffic", "pcie"),
];

#[derive(Deserialize)]
struct Map {
    registers: Vec<Register>,
}

#[derive(Deserialize)]
struct Register {
    name: String,
    offset: u32,
    #[serde(default = "one")]
    count: u32,
    #[serde(default = "word")]
    stride: u32,
    #[serde(default)]
    meaning: String,
    #[serde(default)]
    fields: Vec<Field>,
}

#[derive(Deserialize)]
struct Field {
    name: String,
    bit: u32,
    bits: u32,
    #[serde(default)]
    meaning: String,
}

fn one() -> u32 {
    1
}

fn word() -> u32 {
    8
}

fn main() {
    let mut source = String::new();
    for (module, folder) in MAPS {
        let resources = "../../../../hardware/src/main/resources/rackwright";
        let path = format!("{resources}/{folder}/registers.json");
        println!("cargo::rerun-if-changed={path}");
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let map: Map = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
        writeln!(source, "/// Registers of `{folder}`.\npub mod {module} {{").expect("a string takes all");
        for register in &map.registers {
            write_register(&mut source, register).expect("a string takes all");
        }
        write_lookup(&mut source, &map.registers).expect("a string takes all");
        source.push_str("}\n");
    }
    let out = std::env::var("OUT_DIR").expect("Cargo sets it");
    std::fs::write(Path::new(&out).join("registers.rs"), source).expect("the folder is Cargo's");
}

/// A function that finds a register by its offset.
fn write_lookup(source: &mut String, registers: &[Register]) -> std::fmt::Result {
    writeln!(
        source,
        "/// The register at that offset, if there is one; of several of a kind the first."
    )?;
    writeln!(
        source,
        "pub const fn at(offset: u32) -> Option<crate::Register> {{\nmatch offset {{"
    )?;
    for register in registers {
        writeln!(
            source,
            "{} => Some({}),",
            register.offset,
            register.name.to_uppercase()
        )?;
    }
    source.push_str("_ => None,\n}\n}\n");
    Ok(())
}

fn write_register(source: &mut String, register: &Register) -> std::fmt::Result {
    let Register {
        name,
        offset,
        count,
        stride,
        meaning,
        fields,
    } = register;
    writeln!(source, "/// Register `{name}`: {meaning}")?;
    writeln!(
        source,
        "pub const {}: crate::Register = crate::Register {{",
        name.to_uppercase()
    )?;
    writeln!(source, "offset: {offset}, count: {count}, stride: {stride} }};")?;
    if fields.is_empty() {
        return Ok(());
    }
    writeln!(source, "/// Fields of register `{name}`.\npub mod {name} {{")?;
    for field in fields {
        writeln!(source, "/// Field `{}`: {}", field.name, field.meaning)?;
        writeln!(
            source,
            "pub const {}: crate::Field = crate::Field {{",
            field.name.to_uppercase()
        )?;
        writeln!(source, "bit: {}, bits: {} }};", field.bit, field.bits)?;
    }
    source.push_str("}\n");
    Ok(())
}
