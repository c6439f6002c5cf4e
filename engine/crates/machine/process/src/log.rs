use rackwright_state::{Pass, State, StateError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use syscalls::riscv64::Sysno;

/// Requests of a program that are not emulated, each once, in the order of their first use, of all its processes. They
/// are reported to the user: the program's behaviour afterwards may differ from that under Linux.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnknownCalls(Arc<Mutex<Asked>>);

#[derive(Debug, Default)]
struct Asked {
    numbers: Vec<u64>,
    /// Parts of emulated calls that are not emulated.
    parts: Vec<Missing>,
}

/// A part of an emulated call that is not emulated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Missing {
    /// Other machines, which do not exist.
    Network,
    /// Programs that the simulated machine cannot run.
    Program,
    /// Signals that stop a process until another one continues it.
    Stops,
}

const PARTS: [Missing; 3] = [Missing::Network, Missing::Program, Missing::Stops];

impl State for Missing {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        by.one_of(self, &PARTS)
    }
}

impl Missing {
    fn text(self) -> &'static str {
        match self {
            Missing::Network => "connect to an address that is not loopback",
            Missing::Program => "execve of a file that is no static program for riscv64",
            Missing::Stops => "signals that stop a process, which end it here",
        }
    }
}

impl State for UnknownCalls {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        let mut asked = self.asked();
        asked.numbers.pass(by)?;
        by.list(&mut asked.parts, || Missing::Network)
    }
}

impl UnknownCalls {
    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn record(&self, number: u64) {
        let mut asked = self.asked();
        if !asked.numbers.contains(&number) {
            asked.numbers.push(number);
        }
    }

    /// Takes note of a part of a call.
    pub(crate) fn record_part(&self, part: Missing) {
        let mut asked = self.asked();
        if !asked.parts.contains(&part) {
            asked.parts.push(part);
        }
    }

    /// Names of the calls, followed by the missing parts of others.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        let asked = self.asked();
        let calls = asked.numbers.iter().map(|number| name(*number));
        calls.chain(asked.parts.iter().map(|part| part.text())).collect()
    }
}

/// The name of a call in Linux for 64-bit RISC-V.
fn name(number: u64) -> &'static str {
    let known = usize::try_from(number).ok().and_then(Sysno::new);
    known.map_or("a number that Linux has no call for", |call| call.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_is_named_once() {
        let calls = UnknownCalls::default();
        calls.clone().record_part(Missing::Stops);
        for number in [259, 73, 259, 5000] {
            calls.record(number);
        }
        assert_eq!(
            calls.names(),
            [
                "riscv_flush_icache",
                "ppoll",
                "a number that Linux has no call for",
                "signals that stop a process, which end it here"
            ]
        );
    }
}
