use crate::manifest::ForSoftware;
use serde::Deserialize;

/// A register of a unit, or several of a kind, as its manifest names it.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct UnitRegister {
    /// The name from which constants are derived.
    pub name: String,
    /// Position of the register, or of the first one, in bytes within the page.
    pub offset: u64,
    /// The accesses allowed for software.
    #[serde(default)]
    pub access: Access,
    /// Its number of bits; by default, that of the port's registers.
    #[serde(default)]
    pub bits: Option<u32>,
    /// Its value after reset.
    #[serde(default)]
    pub reset: u64,
    /// Number of such registers.
    #[serde(default = "one")]
    pub count: u64,
    /// Distance in bytes between two of them; by default, the size of a register.
    #[serde(default)]
    pub stride: Option<u64>,
    /// Whether it counts.
    #[serde(default)]
    pub counter: bool,
    /// Its parts.
    #[serde(default)]
    pub fields: Vec<RegisterField>,
    #[serde(default)]
    meaning: ForSoftware,
}

/// The accesses to a register that are allowed for software.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Reads alone.
    Read,
    /// Writes alone.
    Write,
    /// Both.
    #[default]
    ReadWrite,
}

/// Bits of a register.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct RegisterField {
    /// The name from which constants are derived.
    pub name: String,
    /// The lowest of them.
    pub bit: u32,
    /// How many.
    pub bits: u32,
    #[serde(default)]
    meaning: ForSoftware,
}

fn one() -> u64 {
    1
}

impl UnitRegister {
    /// The offset of each of them, for a port with registers of `bytes` bytes.
    fn offsets(&self, bytes: u64) -> impl Iterator<Item = u64> + '_ {
        let stride = self.stride.unwrap_or(bytes);
        (0..self.count).map(move |index| self.offset.saturating_add(stride.saturating_mul(index)))
    }
}

/// Checks the registers of `port`, of `bytes` each, in `size` bytes of addresses.
///
/// # Errors
/// The error, with the names, if there is one.
pub(crate) fn check_registers(
    port: &str,
    registers: &[UnitRegister],
    bytes: u64,
    size: u64,
) -> Result<(), String> {
    let mut places: Vec<(u64, &str)> = Vec::new();
    for (index, register) in registers.iter().enumerate() {
        let name = &register.name;
        let wrong = |what: String| Err(format!("register `{name}` of port `{port}` {what}"));
        if registers[..index].iter().any(|other| other.name == *name) {
            return wrong("is there twice".into());
        }
        if register.count == 0 || register.count > size {
            return wrong(format!("is there {} times", register.count));
        }
        let bits = register.bits.unwrap_or(8 * bytes as u32);
        if bits == 0 || u64::from(bits) > 8 * bytes {
            return wrong(format!("has {bits} bits; 1 to {} are possible", 8 * bytes));
        }
        if bits < 64 && register.reset >> bits != 0 {
            return wrong(format!(
                "holds {} after reset, which has more than {bits} bits",
                register.reset
            ));
        }
        check_fields(port, register, bits)?;
        for offset in register.offsets(bytes) {
            if offset % bytes != 0 || offset.saturating_add(bytes) > size {
                return wrong(format!(
                    "is at {offset:#x}; multiples of {bytes} below {size:#x} are possible"
                ));
            }
            places.push((offset, name));
        }
    }
    places.sort_unstable();
    match places.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => Err(format!(
            "registers `{}` and `{}` of port `{port}` are both at {:#x}",
            pair[0].1, pair[1].1, pair[0].0
        )),
        None => Ok(()),
    }
}

fn check_fields(port: &str, register: &UnitRegister, bits: u32) -> Result<(), String> {
    let mut taken: Vec<(u64, &str)> = Vec::new();
    for field in &register.fields {
        let (name, of) = (&field.name, &register.name);
        if field.bits == 0 || u64::from(field.bit) + u64::from(field.bits) > bits.into() {
            let (bit, most) = (field.bit, field.bits);
            return Err(format!(
                "field `{name}` of register `{of}` of port `{port}` is {most} bits from bit {bit} on; it has {bits}"
            ));
        }
        let mask = (u64::MAX >> (64 - field.bits)) << field.bit;
        if let Some((_, other)) = taken
            .iter()
            .find(|(bits, other)| bits & mask != 0 || other == name)
        {
            return Err(format!(
                "fields `{other}` and `{name}` of register `{of}` of port `{port}` share bits or a name"
            ));
        }
        taken.push((mask, name));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(registers: &str) -> String {
        let registers: Vec<UnitRegister> = serde_json::from_str(registers).expect("the test's own");
        check_registers("mmio", &registers, 8, 4096).expect_err("these are wrong")
    }

    #[test]
    fn registers_that_share_a_place_are_refused_with_both_names() {
        assert_eq!(
            refusal(r#"[{"name":"table","offset":0,"count":3},{"name":"rate","offset":16}]"#),
            "registers `rate` and `table` of port `mmio` are both at 0x10"
        );
        let beyond = refusal(r#"[{"name":"table","offset":4088,"count":2}]"#);
        assert!(
            beyond.contains("is at 0x1000; multiples of 8 below 0x1000"),
            "{beyond}"
        );
        let twice = refusal(r#"[{"name":"rate","offset":0},{"name":"rate","offset":8}]"#);
        assert!(
            twice.contains("register `rate` of port `mmio` is there twice"),
            "{twice}"
        );
    }

    #[test]
    fn fields_and_values_fit() {
        let fields = |fields: &str| {
            refusal(&format!(
                r#"[{{"name":"rate","offset":0,"bits":32,"fields":[{fields}]}}]"#
            ))
        };
        let shared = fields(r#"{"name":"flits","bit":0,"bits":16},{"name":"period","bit":15,"bits":2}"#);
        assert!(shared.contains("fields `flits` and `period`"), "{shared}");
        let wide = fields(r#"{"name":"flits","bit":31,"bits":2}"#);
        assert!(wide.contains("field `flits` of register `rate`"), "{wide}");
        let reset = refusal(r#"[{"name":"rate","offset":0,"bits":4,"reset":16}]"#);
        assert!(reset.contains("holds 16 after reset"), "{reset}");
    }
}
