//! The conditions that start and end an observation.

use std::fmt;
use std::str::FromStr;

/// An event on a hart that starts or ends an observation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trigger {
    /// A cycle is reached.
    Cycle(u64),
    /// A hart has executed this number of instructions.
    Instructions(u64),
    /// The instruction at an address is executed.
    Address(u64),
    /// A function is entered: of the kernel or of the only program, or `FILE!NAME` of a file that a guest starts with.
    Function {
        /// The file, if it is given.
        file: Option<String>,
        /// The function.
        name: String,
    },
    /// An instruction with these bits is executed; of a compressed one, its 16 bits.
    Word(u32),
    /// A kernel has a process (or a thread) of this name run.
    Process(String),
    /// A counter reaches a value.
    Counter {
        /// Which.
        name: String,
        /// The value.
        value: u64,
    },
    /// A counter has risen.
    Event(String),
}

/// Why a text is no trigger.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{0}` is no trigger; there are cycle:N, instructions:N, address:N, function:NAME, word:N, hint:N (0 to 2047), process:NAME, \
     counter:NAME>=N and event:NAME"
)]
pub struct TriggerError(String);

/// The instruction `slti x0, x0, number`, which has no effect: it is in the encoding space of custom hints
/// (unprivileged manual 20191213, section 2.9).
pub const fn hint(number: u32) -> u32 {
    number << 20 | 0b010 << 12 | 0b001_0011
}

/// Hints have numbers below this.
const HINTS: u64 = 1 << 11;

impl FromStr for Trigger {
    type Err = TriggerError;

    fn from_str(text: &str) -> Result<Trigger, TriggerError> {
        parse(text).ok_or_else(|| TriggerError(text.to_string()))
    }
}

fn parse(text: &str) -> Option<Trigger> {
    let (kind, rest) = text.split_once(':')?;
    if rest.is_empty() {
        return None;
    }
    Some(match kind {
        "cycle" => Trigger::Cycle(number(rest)?),
        "instructions" => Trigger::Instructions(number(rest)?),
        "address" => Trigger::Address(number(rest)?),
        "word" => Trigger::Word(number(rest)?.try_into().ok()?),
        "hint" => Trigger::Word(hint(number(rest).filter(|number| *number < HINTS)? as u32)),
        "process" => Trigger::Process(rest.to_string()),
        "event" => Trigger::Event(rest.to_string()),
        "counter" => {
            let (name, value) = rest.split_once(">=")?;
            Trigger::Counter {
                name: name.trim().to_string(),
                value: number(value.trim())?,
            }
        }
        "function" => function(rest)?,
        _ => return None,
    })
}

fn function(text: &str) -> Option<Trigger> {
    let (file, name) = match text.split_once('!') {
        Some((file, name)) => (Some(file.to_string()), name),
        None => (None, text),
    };
    let known = !name.is_empty() && file.as_deref() != Some("");
    known.then(|| Trigger::Function {
        file,
        name: name.to_string(),
    })
}

fn number(text: &str) -> Option<u64> {
    let digits = text.replace('_', "");
    match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => digits.parse().ok(),
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trigger::Cycle(cycle) => write!(formatter, "cycle:{cycle}"),
            Trigger::Instructions(count) => write!(formatter, "instructions:{count}"),
            Trigger::Address(address) => write!(formatter, "address:{address:#x}"),
            Trigger::Function { file: None, name } => write!(formatter, "function:{name}"),
            Trigger::Function {
                file: Some(file),
                name,
            } => write!(formatter, "function:{file}!{name}"),
            Trigger::Word(word) => write!(formatter, "word:{word:#x}"),
            Trigger::Process(name) => write!(formatter, "process:{name}"),
            Trigger::Counter { name, value } => write!(formatter, "counter:{name}>={value}"),
            Trigger::Event(name) => write!(formatter, "event:{name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triggers_are_read_as_they_are_written() {
        let texts = [
            "cycle:1000",
            "instructions:7",
            "address:0x1040",
            "function:main",
            "function:libc.so.6!write",
            "word:0x13",
            "process:iperf3",
            "counter:l2_misses>=10",
            "event:snappy.stall",
        ];
        for text in texts {
            let trigger: Trigger = text.parse().unwrap();
            assert_eq!(trigger.to_string(), text);
        }
        assert_eq!("hint:5".parse(), Ok(Trigger::Word(0x0050_2013)));
        assert_eq!("cycle:1_000".parse(), Ok(Trigger::Cycle(1000)));
    }

    #[test]
    fn what_is_no_trigger_is_refused() {
        for text in [
            "",
            "main",
            "cycle:",
            "cycle:x",
            "hint:2048",
            "counter:a",
            "function:!",
            "function:a!",
            "moon:1",
            "word:0x100000000",
        ] {
            assert!(text.parse::<Trigger>().is_err(), "{text}");
        }
    }
}
