//! By which instructions and addresses harts reach the units beside them.

use crate::error::UnitError;
use rackwright_contract::UNIT_REGISTERS;
use rackwright_rtl::{Manifest, MOST_FUNCT};

/// Number of custom opcodes.
const OPCODES: u8 = 4;

/// Bytes of a unit's page of registers.
pub const REGISTER_PAGE: u64 = 0x1000;

/// The addresses at which programs wait for interrupts: a word for each page of registers, in their order.
pub const INTERRUPTS: u64 = UNIT_REGISTERS + 0x10_0000;

/// Bytes of such a word.
pub const INTERRUPT_BYTES: u64 = 8;

/// The address at which programs wait for the interrupts of the unit whose registers are at `registers`.
pub fn interrupt_word(registers: u64) -> u64 {
    INTERRUPTS + (registers - UNIT_REGISTERS) / REGISTER_PAGE * INTERRUPT_BYTES
}

/// Numbers of a custom opcode that lead to one unit, which counts them from 0 on. In a range smaller than the whole
/// opcode, the last number stands for the unit's last one, which queries faults of units with translation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FunctRange {
    /// The n of `custom-n`.
    pub opcode: u8,
    /// The first number.
    pub first: u8,
    /// The last one.
    pub last: u8,
}

impl FunctRange {
    /// All numbers of an opcode.
    pub fn whole(opcode: u8) -> FunctRange {
        FunctRange {
            opcode,
            first: 0,
            last: MOST_FUNCT,
        }
    }

    /// The unit's number for the command `funct` of `opcode`, if it is in this range.
    pub fn funct(&self, opcode: u8, funct: u8) -> Option<u8> {
        if opcode != self.opcode || !(self.first..=self.last).contains(&funct) {
            return None;
        }
        Some(if funct == self.last {
            MOST_FUNCT
        } else {
            funct - self.first
        })
    }
}

/// The opcodes and addresses by which a unit is reached.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reach {
    /// By which instructions.
    pub commands: Vec<FunctRange>,
    /// The address of its page of registers.
    pub registers: Option<u64>,
    /// The address at which programs wait for its interrupts.
    pub interrupt: Option<u64>,
}

impl Reach {
    /// The opcodes and addresses of a unit that shares nothing with others.
    pub fn alone(manifest: &Manifest) -> Reach {
        let commands = if manifest.has_registers() {
            Vec::new()
        } else {
            manifest
                .opcodes()
                .iter()
                .copied()
                .map(FunctRange::whole)
                .collect()
        };
        Reach {
            commands,
            registers: manifest.has_registers().then_some(UNIT_REGISTERS),
            interrupt: manifest.has_interrupt().then_some(INTERRUPTS),
        }
    }

    /// The number by which the unit knows the command `funct` of `opcode`, if that leads to it.
    pub fn funct(&self, opcode: u8, funct: u8) -> Option<u8> {
        let mut ranges = self.commands.iter();
        ranges.find_map(|range| range.funct(opcode, funct))
    }

    /// The position of `address` in the page of registers, if it is in this page.
    pub fn register(&self, address: u64) -> Option<u32> {
        let offset = address.checked_sub(self.registers?)?;
        (offset < REGISTER_PAGE).then_some(offset as u32)
    }
}

/// The name of each unit of a hart: that of its manifest, followed by a number if there are several.
pub fn names<'a>(units: impl IntoIterator<Item = &'a Manifest>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for unit in units {
        let numbered = (2..).map(|number| format!("{}-{number}", unit.unit));
        let free = std::iter::once(unit.unit.clone())
            .chain(numbered)
            .find(|name| !names.contains(name));
        names.extend(free);
    }
    names
}

/// The opcodes and addresses of each unit of a hart.
///
/// A unit that has an opcode for itself has all its numbers. Units that share an opcode have ranges in the order of the
/// units, each as long as the next power of two above its commands, and aligned to its length. Units with registers
/// have a page each.
///
/// # Errors
/// [`UnitError`] if an opcode cannot be shared, because a unit does not list its commands, or all numbers are in use.
pub fn assign(units: &[&Manifest]) -> Result<Vec<Reach>, UnitError> {
    let mut reaches = vec![Reach::default(); units.len()];
    for opcode in 0..OPCODES {
        let claimants: Vec<usize> = (0..units.len())
            .filter(|index| !units[*index].has_registers() && units[*index].opcodes().contains(&opcode))
            .collect();
        for (index, range) in share(opcode, units, &claimants)? {
            reaches[index].commands.push(range);
        }
    }
    let behind_registers = (0..units.len()).filter(|index| units[*index].has_registers());
    for (page, index) in behind_registers.enumerate() {
        let registers = UNIT_REGISTERS + page as u64 * REGISTER_PAGE;
        reaches[index].registers = Some(registers);
        if units[index].has_interrupt() {
            reaches[index].interrupt = Some(interrupt_word(registers));
        }
    }
    Ok(reaches)
}

/// The ranges of the units that respond to `opcode`.
fn share(
    opcode: u8,
    units: &[&Manifest],
    claimants: &[usize],
) -> Result<Vec<(usize, FunctRange)>, UnitError> {
    if let [only] = claimants {
        return Ok(vec![(*only, FunctRange::whole(opcode))]);
    }
    let mut free = 0;
    let mut ranges = Vec::new();
    for index in claimants {
        let numbers = numbers(units[*index]).ok_or_else(|| {
            let other = claimants.iter().find(|other| *other != index).unwrap_or(index);
            UnitError::SharedOpcode {
                opcode,
                unit: units[*index].unit.clone(),
                other: units[*other].unit.clone(),
            }
        })?;
        let first = u32::next_multiple_of(free, numbers);
        free = first + numbers;
        if free > u32::from(MOST_FUNCT) + 1 {
            let units = claimants.iter().map(|index| units[*index].unit.as_str());
            return Err(UnitError::FullOpcode {
                opcode,
                units: units.collect::<Vec<_>>().join(", "),
            });
        }
        let (first, last) = (first as u8, (free - 1) as u8);
        ranges.push((*index, FunctRange { opcode, first, last }));
    }
    Ok(ranges)
}

/// The numbers that a unit needs: a power of two above all except the last number, which is at the end of every range.
fn numbers(unit: &Manifest) -> Option<u32> {
    let functs = unit.commands().iter().map(|command| command.funct);
    let highest = functs.filter(|funct| *funct != MOST_FUNCT).max()?;
    Some((u32::from(highest) + 2).next_power_of_two())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(name: &str, port: &str) -> Manifest {
        Manifest::parse(&format!(
            r#"{{"format":2,"unit":"{name}","top":"U","verilog":["U.sv"],"attach":["hart"],
                "clocks":[{{"pin":"clock","reset":"reset","hertz":2000000000}}],"ports":[{port}]}}"#
        ))
        .unwrap()
    }

    fn with_commands(name: &str, opcode: u8, highest: u8) -> Manifest {
        let port = format!(
            r#"{{"contract":"command","name":"command","opcodes":[{opcode}],
                "commands":[{{"name":"go","funct":0}},{{"name":"end","funct":{highest}}},
                {{"name":"fault","funct":127}}]}}"#
        );
        unit(name, &port)
    }

    fn range(opcode: u8, first: u8, last: u8) -> FunctRange {
        FunctRange { opcode, first, last }
    }

    #[test]
    fn a_unit_with_an_opcode_for_itself_has_all_of_it() {
        let (one, other) = (with_commands("one", 0, 20), with_commands("other", 1, 20));
        let reaches = assign(&[&one, &other]).unwrap();
        assert_eq!(reaches[0].commands, [FunctRange::whole(0)]);
        assert_eq!(reaches[1], Reach::alone(&other));
        assert_eq!(reaches[0].commands[0].funct(0, 127), Some(127));
        assert_eq!(reaches[0].commands[0].funct(1, 0), None);
    }

    #[test]
    fn several_of_one_opcode_have_ranges_of_it() {
        let (small, large) = (with_commands("small", 2, 2), with_commands("large", 2, 30));
        let reaches = assign(&[&small, &large, &small]).unwrap();
        assert_eq!(reaches[0].commands, [range(2, 0, 3)]);
        assert_eq!(reaches[1].commands, [range(2, 32, 63)]);
        assert_eq!(reaches[2].commands, [range(2, 64, 67)]);
        let large = reaches[1].commands[0];
        assert_eq!(
            [31, 32, 62, 63, 64].map(|funct| large.funct(2, funct)),
            [None, Some(0), Some(30), Some(127), None]
        );
    }

    #[test]
    fn units_of_one_kind_have_names_of_their_own() {
        let (one, other) = (with_commands("one", 0, 1), with_commands("one-2", 0, 1));
        assert_eq!(names([&one, &other, &one]), ["one", "one-2", "one-3"]);
    }

    #[test]
    fn what_cannot_be_shared_is_refused() {
        let silent = unit(
            "silent",
            r#"{"contract":"command","name":"command","opcodes":[0]}"#,
        );
        let full = with_commands("full", 0, 62);
        assert!(assign(&[&silent]).is_ok());
        let refused = |units: &[&Manifest]| assign(units).unwrap_err().to_string();
        assert!(refused(&[&full, &silent]).contains("by `full` and `silent`: the manifest of `silent`"));
        let too_many = refused(&[&full, &full, &full]);
        assert!(
            too_many.contains("custom-0") && too_many.contains("full, full, full"),
            "{too_many}"
        );
    }

    #[test]
    fn registers_have_pages_and_need_no_opcode() {
        let port = r#"{"contract":"mmio","name":"mmio","opcodes":[0]}"#;
        let (one, other) = (unit("one", port), unit("other", port));
        let commands = with_commands("commands", 0, 3);
        let reaches = assign(&[&one, &commands, &other]).unwrap();
        assert_eq!(reaches[0].registers, Some(UNIT_REGISTERS));
        assert_eq!(reaches[1].commands, [FunctRange::whole(0)]);
        assert_eq!(reaches[2].register(UNIT_REGISTERS + REGISTER_PAGE + 8), Some(8));
        assert_eq!(reaches[2].register(UNIT_REGISTERS + 8), None);
        assert_eq!(reaches[0].register(UNIT_REGISTERS + REGISTER_PAGE), None);
    }
}
