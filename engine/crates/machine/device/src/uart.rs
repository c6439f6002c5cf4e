use crate::device::{decode, encode, Device, RestoreError};
use rackwright_time::Cycle;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::convert::Infallible;
use vm_superio::serial::{NoEvents, SerialState};
use vm_superio::{Serial, Trigger};

/// Registers of a 16550.
const REGISTERS: u64 = 8;

/// A serial port: a 16550A whose line takes no time.
pub struct Uart {
    port: Port,
    /// Input for the guest for which the port has no room yet.
    waiting: VecDeque<u8>,
}

type Port = Serial<Line, NoEvents, Vec<u8>>;

/// Edges are not used: the level of the line follows from the registers.
struct Line;

impl Trigger for Line {
    type E = Infallible;

    fn trigger(&self) -> Result<(), Infallible> {
        Ok(())
    }
}

/// Registers, and bits of them.
const INTERRUPT_ENABLE: u8 = 1;
const ENABLE_RECEIVED: u8 = 1;
const ENABLE_SENT: u8 = 1 << 1;
const RECEIVED: u8 = 1 << 2;
const SENT: u8 = 1 << 1;
const DIVISOR_LATCH: u8 = 1 << 7;
const DATA_READY: u8 = 1;

#[derive(Serialize, Deserialize)]
struct State {
    divisor: [u8; 2],
    interrupts: [u8; 2],
    control: [u8; 2],
    status: [u8; 2],
    scratch: u8,
    received: Vec<u8>,
    waiting: Vec<u8>,
}

impl Default for Uart {
    fn default() -> Uart {
        Uart {
            port: Serial::new(Line, Vec::new()),
            waiting: VecDeque::new(),
        }
    }
}

impl Uart {
    /// The guest's output that has not been taken yet.
    pub fn output(&mut self) -> &mut Vec<u8> {
        self.port.writer_mut()
    }

    /// Sends to the guest, at the rate at which it accepts input.
    pub fn send(&mut self, bytes: &[u8]) {
        self.waiting.extend(bytes);
        self.deliver();
    }

    /// Moves input into the port, as far as there is room.
    fn deliver(&mut self) {
        // In loop-back mode the port accepts no external input, but reports room.
        let room = self.port.fifo_capacity().min(self.waiting.len());
        if room > 0 {
            let bytes: Vec<u8> = self.waiting.iter().take(room).copied().collect();
            let taken = self.port.enqueue_raw_bytes(&bytes).unwrap_or(0);
            self.waiting.drain(..taken);
        }
        self.renew_interrupt();
    }

    /// A 16550 keeps its interrupt active while it has data; the port of vm-superio clears it when the interrupt is
    /// identified or a byte is read, and sets it again when the interrupt is enabled.
    fn renew_interrupt(&mut self) {
        let port = self.port.state();
        let due = port.line_status & DATA_READY != 0 && port.interrupt_enable & ENABLE_RECEIVED != 0;
        let shown = port.interrupt_identification & RECEIVED != 0 || port.line_control & DIVISOR_LATCH != 0;
        if due && !shown {
            // Memory accepts all writes, and the line cannot fail.
            let _ = self.port.write(INTERRUPT_ENABLE, port.interrupt_enable);
        }
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
        // As above.
        let _ = self.port.write(offset as u8, value as u8);
        self.deliver();
        true
    }

    fn interrupts(&self) -> bool {
        let port = self.port.state();
        let asks = |identified, enabled| {
            port.interrupt_identification & identified != 0 && port.interrupt_enable & enabled != 0
        };
        asks(RECEIVED, ENABLE_RECEIVED) || asks(SENT, ENABLE_SENT)
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
        let port = Serial::from_state(&port, Line, NoEvents, Vec::new());
        self.port = port.map_err(|_| RestoreError { device })?;
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
        assert!(!uart.interrupts());
        assert!(uart.write(1, 1, 1, Cycle::ZERO));
        uart.send(&[b'x'; 100]);
        assert!(uart.interrupts());
        let mut received = 0;
        while get(&mut uart, 5) & 1 != 0 {
            assert_eq!(get(&mut uart, 0), u64::from(b'x'));
            received += 1;
        }
        assert_eq!(received, 100);
    }

    #[test]
    fn the_line_stays_high_while_there_is_data() {
        let mut uart = Uart::default();
        assert!(uart.write(1, 1, 1, Cycle::ZERO));
        uart.send(b"ab");
        for left in [2, 1] {
            assert!(uart.interrupts(), "{left} left");
            assert_eq!(get(&mut uart, 2) & 7, 4, "received data, identified twice");
            assert_eq!(get(&mut uart, 2) & 7, 4);
            assert!(uart.interrupts());
            get(&mut uart, 0);
        }
        assert!(!uart.interrupts());
        assert_eq!(get(&mut uart, 2) & 1, 1);
    }

    #[test]
    fn a_saved_port_goes_on_where_it_was() {
        let mut uart = Uart::default();
        assert!(uart.write(1, 1, 1, Cycle::ZERO));
        uart.send(&[7; 70]);
        let mut other = Uart::default();
        other.restore(&uart.save()).unwrap();
        assert_eq!(other.save(), uart.save());
        assert!(other.interrupts());
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
