use syscalls::riscv64::Sysno;

/// System calls that the program made and that are not emulated, each once, in the order of first use. Whoever runs it is
/// told of them: what it does after such a call may differ from what it does under Linux.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnknownCalls {
    numbers: Vec<u64>,
    /// Whether it wanted to reach another machine.
    is_unreachable: bool,
}

/// What is told of `connect` and `sendto` to addresses that are not of this machine.
const UNREACHABLE: &str = "connect to an address that is not loopback";

impl UnknownCalls {
    pub(crate) fn record(&mut self, number: u64) {
        if !self.numbers.contains(&number) {
            self.numbers.push(number);
        }
    }

    /// Takes note that the program wanted to reach another machine, of which there is none.
    pub(crate) fn record_unreachable(&mut self) {
        self.is_unreachable = true;
    }

    /// Names of the calls.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        let calls = self.numbers.iter().map(|number| name(*number));
        calls.chain(self.is_unreachable.then_some(UNREACHABLE)).collect()
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
        let mut calls = UnknownCalls::default();
        [259, 73, 259, 5000]
            .into_iter()
            .for_each(|number| calls.record(number));
        assert_eq!(
            calls.names(),
            [
                "riscv_flush_icache",
                "ppoll",
                "a number that Linux has no call for"
            ]
        );
    }
}
