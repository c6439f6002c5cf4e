use crate::device::{decode, encode, Device, RestoreError};
use rackwright_time::Cycle;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::collections::VecDeque;
use std::convert::Infallible;
use vm_superio::serial::{NoEvents, SerialState};
use vm_superio::{Serial, Trigger};

/// Registers of a 16550.
const REGISTERS: u64 = 8;

/// A serial port: a 16550A whose line takes no time.
pub struct Uart {
    port: Port,
    /// What came for the guest and does not fit into the port yet.
    waiting: VecDeque<u8>,
}

type Port = Serial<Line, NoEvents, Vec<u8>>;

/// The interrupt line: remembers that it was pulsed.
#[derive(Default)]
struct Line(Cell<bool>);

impl Trigger for Line {
    type E = Infallible;

    fn trigger(&self) -> Result<(), Infallible> {
        self.0.set(true);
        Ok(())
    }
}

#[derive(Serialize, Deserialize)]
struct State {
    divisor: [u8; 2],
    interrupts: [u8; 2],
    control: [u8; 2],
    status: [u8; 2],
    scratch: u8,
    received: Vec<u8>,
    waiting: Vec<u8>,
    pulsed: bool,
}

impl Default for Uart {
    fn default() -> Uart {
        Uart {
            port: Serial::new(Line::default(), Vec::new()),
            waiting: VecDeque::new(),
        }
    }
}

impl Uart {
    /// What the guest has sent and nobody has taken yet.
    pub fn output(&mut self) -> &mut Vec<u8> {
        self.port.writer_mut()
    }

    /// Sends to the guest, as fast as it takes it.
    pub fn send(&mut self, bytes: &[u8]) {
        self.waiting.extend(bytes);
        self.deliver();
    }

    /// Puts what fits into the port.
    fn deliver(&mut self) {
        // In loop-back mode the port takes nothing from outside, and says that it has room.
        let room = self.port.fifo_capacity().min(self.waiting.len());
        if room == 0 {
            return;
        }
        let bytes: Vec<u8> = self.waiting.iter().take(room).copied().collect();
        let taken = self.port.enqueue_raw_bytes(&bytes).unwrap_or(0);
        self.waiting.drain(..taken);
    }
}

impl Device for Uart {
    fn read(&mut self, offset: u64, bytes: u8, _: Cycle) -> Option<u64> {
        if bytes != 1 || offset >= REGISTERS {
            return None;
        }
        let value = self.port.read(offset as u8);
        self.deliver();
        Some(value.into())
    }

    fn write(&mut self, offset: u64, bytes: u8, value: u64, _: Cycle) -> bool {
        if bytes != 1 || offset >= REGISTERS {
            return false;
        }
        // Memory takes everything that is written, and a line cannot fail.
        let _ = self.port.write(offset as u8, value as u8);
        self.deliver();
        true
    }

    fn take_interrupt(&mut self) -> bool {
        self.port.interrupt_evt().0.replace(false)
    }

    fn save(&self) -> Vec<u8> {
        let port = self.port.state();
        encode(&State {
            divisor: [port.baud_divisor_low, port.baud_divisor_high],
            interrupts: [port.interrupt_enable, port.interrupt_identification],
            control: [port.line_control, port.modem_control],
            status: [port.line_status, port.modem_status],
            scratch: port.scratch,
            received: port.in_buffer,
            waiting: self.waiting.iter().copied().collect(),
            pulsed: self.port.interrupt_evt().0.get(),
        })
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        let device = "UART";
        let state: State = decode(state, device)?;
        let port = SerialState {
            baud_divisor_low: state.divisor[0],
            baud_divisor_high: state.divisor[1],
            interrupt_enable: state.interrupts[0],
            interrupt_identification: state.interrupts[1],
            line_control: state.control[0],
            line_status: state.status[0],
            modem_control: state.control[1],
            modem_status: state.status[1],
            scratch: state.scratch,
            in_buffer: state.received,
        };
        let port = Serial::from_state(&port, Line::default(), NoEvents, Vec::new());
        self.port = port.map_err(|_| RestoreError { device })?;
        // To make the port pulses the line where it would be high; only what was seen then counts.
        self.port.interrupt_evt().0.set(state.pulsed);
        self.waiting = state.waiting.into();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(uart: &mut Uart, register: u64) -> u64 {
        uart.read(register, 1, Cycle::ZERO).unwrap()
    }

    #[test]
    fn what_is_sent_comes_out_and_what_comes_is_received() {
        let mut uart = Uart::default();
        for byte in b"ok" {
            assert!(uart.write(0, 1, u64::from(*byte), Cycle::ZERO));
        }
        assert_eq!(std::mem::take(uart.output()), b"ok");
        assert!(!uart.take_interrupt());
        assert!(uart.write(1, 1, 1, Cycle::ZERO));
        uart.send(&[b'x'; 100]);
        assert!(uart.take_interrupt());
        let mut received = 0;
        while get(&mut uart, 5) & 1 != 0 {
            assert_eq!(get(&mut uart, 0), u64::from(b'x'));
            received += 1;
        }
        assert_eq!(received, 100);
    }

    #[test]
    fn a_saved_port_goes_on_where_it_was() {
        let mut uart = Uart::default();
        assert!(uart.write(1, 1, 1, Cycle::ZERO));
        uart.send(&[7; 70]);
        let mut other = Uart::default();
        other.restore(&uart.save()).unwrap();
        assert_eq!(other.save(), uart.save());
        assert!(other.take_interrupt());
        assert_eq!(get(&mut other, 0), 7);
        assert!(other.restore(b"").is_err());
    }

    #[test]
    fn registers_are_bytes() {
        let mut uart = Uart::default();
        assert_eq!(uart.read(0, 4, Cycle::ZERO), None);
        assert!(!uart.write(8, 1, 0, Cycle::ZERO));
    }
}
