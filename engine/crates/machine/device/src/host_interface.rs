use crate::device::{decode, encode, Device, RestoreError};
use rackwright_time::Cycle;
use serde::{Deserialize, Serialize};
use std::io::Write;

/// Registers: one that ends the run, by a store of (status << 1 | 1), and one that prints the byte that is stored to it.
const TO_HOST: u64 = 0;
const CONSOLE: u64 = 8;

/// The interface by which a program without an operating system prints and ends its run. Its registers have eight bytes
/// and read as 0.
#[derive(Default)]
pub struct HostInterface {
    state: State,
    echo: bool,
}

#[derive(Default, Serialize, Deserialize)]
struct State {
    console: Vec<u8>,
    exit: Option<i32>,
}

impl HostInterface {
    /// Passes later output to standard output immediately; it is stored as well.
    pub fn echo(&mut self) {
        self.echo = true;
    }

    /// The program's status, once it has ended its run.
    pub fn exit(&self) -> Option<i32> {
        self.state.exit
    }

    /// Everything printed.
    pub fn console(&self) -> &[u8] {
        &self.state.console
    }

    fn print(&mut self, byte: u8) {
        self.state.console.push(byte);
        if self.echo {
            let mut out = std::io::stdout().lock();
            // A closed pipe does not end the simulation: the output is stored.
            let _ = out.write_all(&[byte]).and_then(|()| out.flush());
        }
    }
}

impl Device for HostInterface {
    fn read(&mut self, offset: u64, bytes: u8, _: Cycle) -> Option<u64> {
        (offset % 8 + u64::from(bytes) <= 8).then_some(0)
    }

    fn write(&mut self, offset: u64, bytes: u8, value: u64, _: Cycle) -> bool {
        if offset % 8 + u64::from(bytes) > 8 {
            return false;
        }
        match offset {
            CONSOLE => self.print(value as u8),
            TO_HOST if value & 1 == 1 => {
                let status = value & u64::MAX >> (64 - 8 * u32::from(bytes));
                self.state.exit = Some((status >> 1) as i32);
            }
            // The upper bytes of the register, and a store that does not end the run.
            _ if offset < CONSOLE => {}
            _ => return false,
        }
        true
    }

    fn save(&self) -> Vec<u8> {
        encode(&self.state)
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        self.state = decode(state, "host interface")?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Cycle = Cycle::ZERO;

    #[test]
    fn a_store_ends_the_run_with_its_status() {
        let mut host = HostInterface::default();
        assert!(host.write(TO_HOST, 8, 2, NOW));
        assert_eq!(host.exit(), None);
        assert!(host.write(TO_HOST, 1, 0x1107, NOW));
        assert_eq!(host.exit(), Some(3));
        assert_eq!(host.read(TO_HOST, 8, NOW), Some(0));
    }

    #[test]
    fn bytes_are_printed_and_come_back_with_the_state() {
        let mut host = HostInterface::default();
        assert!(host.write(CONSOLE, 1, u64::from(b'a'), NOW));
        assert!(!host.write(CONSOLE + 1, 1, u64::from(b'b'), NOW));
        assert!(!host.write(CONSOLE + 4, 8, 0, NOW));
        let mut other = HostInterface::default();
        other.restore(&host.save()).unwrap();
        assert_eq!((other.console(), other.exit()), (&b"a"[..], None));
        assert!(other.restore(&[7]).is_err());
    }
}
