//! What makes a manifest valid beyond its form: names, widths, and one port through which a unit is controlled.

use super::former::FORMER;
use super::{Direction, Manifest, Naming, Port, UnitCommand, APB_BYTES, FORMAT};
use crate::clocks;
use crate::interface::BEAT_BYTES;
use crate::registers::check_registers;
use serde_json::Value;

/// Bytes of a register behind a memory-mapped port, and of its page.
const MMIO_BYTES: u64 = 8;

const MMIO_PAGE: u64 = 0x1000;

/// The largest number of a command: seven bits of the instruction distinguish commands.
pub const MOST_FUNCT: u8 = 127;

impl Manifest {
    pub(super) fn check(&self) -> Result<(), String> {
        if self.clock.is_some() {
            return Err(format!(
                "`clock` is a part of format {FORMER}: {FORMAT} has `clocks`, a list"
            ));
        }
        if self.attach.is_none() {
            return Err("missing field `attach`: where it may be attached".into());
        }
        if self.verilog.is_empty() {
            return Err("it names no Verilog file".into());
        }
        let names: Vec<&str> = self.ports.iter().map(Port::name).collect();
        clocks::check(&self.clocks, &names)?;
        self.check_names()?;
        if self.ports.iter().filter(|port| port.is_control()).count() > 1 {
            return Err("a unit has one command, mmio, axi4-lite or apb port at most, or one of tilelink with registers".into());
        }
        let is_interrupt = |port: &&Port| matches!(port, Port::Interrupt { .. });
        if self.ports.iter().filter(is_interrupt).count() > 1 {
            return Err("a unit has one interrupt port at most".into());
        }
        self.identifiers().try_for_each(check_identifier)?;
        if !self.is_elaborated() {
            self.parameters.iter().try_for_each(check_parameter)?;
        }
        self.define.iter().try_for_each(check_parameter)?;
        self.ports.iter().try_for_each(check_port)
    }

    /// Refuses two ports with the same name; the pins of events begin otherwise.
    fn check_names(&self) -> Result<(), String> {
        let ports = self
            .ports
            .iter()
            .filter(|port| !matches!(port, Port::Event { .. }));
        let names: Vec<&str> = ports.map(Port::name).collect();
        let is_twice = |(index, name): &(usize, &&str)| names[..*index].contains(*name);
        match names.iter().enumerate().find(is_twice) {
            Some((_, name)) => Err(format!("two ports are named `{name}`")),
            None => Ok(()),
        }
    }

    fn identifiers(&self) -> impl Iterator<Item = &str> {
        let clocks = self.clocks.iter();
        let pins = clocks.flat_map(|clock| std::iter::once(clock.pin.as_str()).chain(clock.reset.as_deref()));
        std::iter::once(self.top.as_str())
            .chain(pins)
            .chain(self.idle.as_deref())
            .chain(self.ports.iter().map(Port::name))
    }
}

fn check_identifier(name: &str) -> Result<(), String> {
    let valid = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if valid {
        Ok(())
    } else {
        Err(format!("`{name}` is not a Verilog identifier"))
    }
}

fn check_parameter((name, value): (&String, &Value)) -> Result<(), String> {
    check_identifier(name)?;
    if value.is_number() || value.is_string() || value.is_boolean() {
        return Ok(());
    }
    Err(format!(
        "`{name}` is {value}, neither a number nor a word nor true or false"
    ))
}

fn check_port(port: &Port) -> Result<(), String> {
    match port {
        Port::Axi4 {
            name,
            bytes,
            naming: Naming::Lower | Naming::Upper,
            ..
        } if !matches!(*bytes, 4 | 8 | 16 | 32) => Err(format!(
            "port `{name}` moves {bytes} bytes per beat; 4, 8, 16 and 32 are possible"
        )),
        Port::Axi4Lite { name, bytes, .. } if !matches!(*bytes, 4 | 8) => Err(format!(
            "port `{name}` has registers of {bytes} bytes; 4 and 8 are possible"
        )),
        Port::Axi4Lite {
            name, address_bits, ..
        }
        | Port::Apb {
            name, address_bits, ..
        } if !(1..=32).contains(address_bits) => Err(format!(
            "port `{name}` has addresses of {address_bits} bits; 1 to 32 are possible"
        )),
        Port::Apb {
            name,
            naming: Naming::Elaborated,
            ..
        } => Err(format!("port `{name}`: the pins of APB are `lower` or `upper`")),
        Port::Memory { name, bytes, .. }
        | Port::Axi4 {
            name,
            bytes,
            naming: Naming::Elaborated,
            ..
        } if !matches!(*bytes, 16 | 32) || *bytes as usize > BEAT_BYTES => Err(format!(
            "port `{name}` moves {bytes} bytes per beat; 16 and 32 are possible"
        )),
        Port::Memory { name, tag_bits, .. } if !(1..=8).contains(tag_bits) => Err(format!(
            "port `{name}` has tags of {tag_bits} bits; 1 to 8 are possible"
        )),
        Port::Axi4 {
            name,
            id_bits,
            naming,
            ..
        } if *id_bits > 8 || (*id_bits == 0 && *naming == Naming::Elaborated) => Err(format!(
            "port `{name}` has identifiers of {id_bits} bits; 1 to 8 are possible"
        )),
        Port::Memory {
            name, address_bits, ..
        }
        | Port::Axi4 {
            name, address_bits, ..
        } if !(1..=64).contains(address_bits) => Err(format!(
            "port `{name}` has addresses of {address_bits} bits; 1 to 64 are possible"
        )),
        Port::TileLink { .. } => check_tilelink(port),
        Port::Stream { name, bytes, .. } if !matches!(bytes, 8 | 16 | 32) => Err(format!(
            "port `{name}` has beats of {bytes} bytes; 8, 16 and 32 are possible"
        )),
        Port::AxiStream { name, bytes, .. } if !matches!(bytes, 1 | 2 | 4 | 8 | 16 | 32) => Err(format!(
            "port `{name}` has transfers of {bytes} bytes; 1, 2, 4, 8, 16 and 32 are possible"
        )),
        Port::AxiStream {
            name,
            naming: Naming::Elaborated,
            ..
        } => Err(format!(
            "port `{name}`: the pins of AXI4-Stream are `lower` or `upper`"
        )),
        Port::Interrupt { pin: Some(pin), .. } => check_identifier(pin),
        Port::Command { name, opcodes, .. } if opcodes.iter().any(|opcode| *opcode > 3) => {
            Err(format!("port `{name}` names an opcode above custom-3"))
        }
        Port::Command { name, commands, .. } => check_commands(name, commands),
        Port::Mmio {
            name,
            commands,
            registers,
            ..
        } => {
            check_commands(name, commands)?;
            check_registers(name, registers, MMIO_BYTES, MMIO_PAGE)
        }
        Port::Axi4Lite {
            name,
            bytes,
            address_bits,
            registers,
            ..
        } => check_registers(name, registers, u64::from(*bytes), 1 << address_bits),
        Port::Apb {
            name,
            prefix,
            address_bits,
            registers,
            ..
        } => {
            if let Some(prefix) = prefix.as_deref().filter(|prefix| !prefix.is_empty()) {
                check_identifier(prefix)?;
            }
            check_registers(name, registers, APB_BYTES.into(), 1 << address_bits)
        }
        Port::Event { name, width } if !(1..=32).contains(width) => Err(format!(
            "event `{name}` is {width} bits wide; 1 to 32 are possible"
        )),
        _ => Ok(()),
    }
}

fn check_tilelink(port: &Port) -> Result<(), String> {
    let Port::TileLink {
        name,
        direction,
        bytes,
        address_bits,
        size_bits,
        source_bits,
        naming,
        registers,
        ..
    } = port
    else {
        return Ok(());
    };
    let (widths, most): (&[u32], u32) = match direction {
        Direction::In => (&[4, 8], 32),
        Direction::Out => (&[4, 8, 16, 32], 64),
    };
    if !widths.contains(bytes) {
        let listed: Vec<String> = widths.iter().map(u32::to_string).collect();
        return Err(format!(
            "port `{name}` has beats of {bytes} bytes; {} are possible",
            listed.join(", ")
        ));
    }
    if *naming == Naming::Upper {
        return Err(format!(
            "port `{name}`: the pins of TileLink are `elaborated` or `lower`"
        ));
    }
    let widths = [
        ("addresses", *address_bits, 1, most),
        ("sizes", *size_bits, 2, 4),
        ("sources", *source_bits, 0, 16),
    ];
    for (what, bits, least, most) in widths {
        if !(least..=most).contains(&bits) {
            return Err(format!(
                "port `{name}` has {what} of {bits} bits; {least} to {most} are possible"
            ));
        }
    }
    check_registers(name, registers, u64::from(*bytes), 1 << (*address_bits).min(32))
}

fn check_commands(port: &str, commands: &[UnitCommand]) -> Result<(), String> {
    for (index, command) in commands.iter().enumerate() {
        if command.funct > MOST_FUNCT {
            let (name, funct) = (&command.name, command.funct);
            return Err(format!(
                "command `{name}` of port `{port}` is number {funct}; 0 to {MOST_FUNCT} are possible"
            ));
        }
        let same = |other: &&UnitCommand| other.name == command.name || other.funct == command.funct;
        if let Some(other) = commands[..index].iter().find(same) {
            return Err(format!(
                "commands `{}` and `{}` of port `{port}` share a name or a number",
                other.name, command.name
            ));
        }
    }
    Ok(())
}
