use rackwright_cpu::DeviceAccess;
use rackwright_time::Cycle;

/// Ends the run: a 64-bit store of (status << 1 | 1).
const TO_HOST: u64 = 0x1000_1000;
/// Prints: a store of one byte.
const CONSOLE: u64 = 0x1000_1008;
/// The core-local interruptor, as on SiFive's chips: software interrupt, time to compare with, time.
const SOFTWARE_INTERRUPT: u64 = 0x0200_0000;
const TIME_COMPARE: u64 = 0x0200_4000;
const TIME: u64 = 0x0200_bff8;

/// Cycles of the hart in one tick of `TIME`: 10 MHz at 2 GHz, as the hart's register `time`.
const CYCLES_PER_TICK: u64 = 200;

/// What a bare-metal program finds beside memory; `software/bare-metal/README.md` is its description.
pub(crate) struct Devices {
    console: Vec<u8>,
    echo: bool,
    exit: Option<i32>,
    software_interrupt: bool,
    time_compare: u64,
}

impl Devices {
    pub(crate) fn new(echo: bool) -> Devices {
        Devices {
            console: Vec::new(),
            echo,
            exit: None,
            software_interrupt: false,
            time_compare: u64::MAX,
        }
    }

    /// The program's status, once it has ended.
    pub(crate) fn exit(&self) -> Option<i32> {
        self.exit
    }

    /// Everything printed.
    pub(crate) fn console(&self) -> &[u8] {
        &self.console
    }

    pub(crate) fn software_interrupt(&self) -> bool {
        self.software_interrupt
    }

    /// Whether the timer's interrupt is raised at `now`.
    pub(crate) fn timer_interrupt(&self, now: Cycle) -> bool {
        now.0 / CYCLES_PER_TICK >= self.time_compare
    }

    /// When the timer's interrupt will be raised; [`Cycle::NEVER`] when it is not set.
    pub(crate) fn next_timer(&self) -> Cycle {
        Cycle(self.time_compare.saturating_mul(CYCLES_PER_TICK))
    }

    /// Performs an access of a hart at `now`: what it reads. `None` where there is no device.
    pub(crate) fn access(&mut self, access: DeviceAccess, now: Cycle) -> Option<u64> {
        match access.write {
            Some(value) => self.write(access.address, access.bytes, value).then_some(0),
            None => self.read(access.address, access.bytes, now),
        }
    }

    /// The value of `bytes` bytes at a device address, in the low ones; `None` where there is no device.
    pub(crate) fn read(&self, address: u64, bytes: u8, now: Cycle) -> Option<u64> {
        let place = Place::of(address, bytes)?;
        let register = match place.register {
            SOFTWARE_INTERRUPT => self.software_interrupt.into(),
            TIME_COMPARE => self.time_compare,
            TIME => now.0 / CYCLES_PER_TICK,
            TO_HOST | CONSOLE => 0,
            _ => return None,
        };
        Some((register & place.mask) >> place.shift)
    }

    /// Stores the low `bytes` bytes of `value` to a device address; tells whether there is a device.
    pub(crate) fn write(&mut self, address: u64, bytes: u8, value: u64) -> bool {
        let Some(place) = Place::of(address, bytes) else {
            return false;
        };
        let merged = |register: u64| register & !place.mask | (value << place.shift) & place.mask;
        let value = merged(0);
        match place.register {
            SOFTWARE_INTERRUPT => self.software_interrupt = merged(self.software_interrupt.into()) & 1 == 1,
            TIME_COMPARE => self.time_compare = merged(self.time_compare),
            TO_HOST if value & 1 == 1 => self.exit = Some((value >> 1) as i32),
            TO_HOST => {}
            CONSOLE if place.shift == 0 => self.print(value as u8),
            _ => return false,
        }
        true
    }

    fn print(&mut self, byte: u8) {
        use std::io::Write;
        self.console.push(byte);
        if self.echo {
            let mut out = std::io::stdout().lock();
            // A closed pipe is no reason to end the simulation: what was printed is kept.
            let _ = out.write_all(&[byte]).and_then(|()| out.flush());
        }
    }
}

/// Where an access lies: its register of eight bytes, and its bits in there.
struct Place {
    register: u64,
    shift: u32,
    mask: u64,
}

impl Place {
    /// `None` for an access beyond the end of its register.
    fn of(address: u64, bytes: u8) -> Option<Place> {
        let (shift, bits) = (8 * (address % 8) as u32, 8 * u32::from(bytes));
        (shift + bits <= 64).then(|| Place {
            register: address & !7,
            shift,
            mask: (u64::MAX >> (64 - bits)) << shift,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_to_half_of_a_register_leaves_the_other() {
        let mut devices = Devices::new(false);
        assert!(devices.write(TIME_COMPARE, 8, 0x1111_2222_3333_4444));
        assert!(devices.write(TIME_COMPARE, 4, 0x5555_5555));
        assert!(devices.write(TIME_COMPARE + 4, 4, 0x7777_7777));
        assert_eq!(
            devices.read(TIME_COMPARE, 8, Cycle::ZERO),
            Some(0x7777_7777_5555_5555)
        );
        let late = Cycle(0x1_0000_0002 * CYCLES_PER_TICK);
        assert_eq!(devices.read(TIME, 4, late), Some(2));
        assert_eq!(devices.read(TIME + 4, 4, late), Some(1));
        assert_eq!(devices.read(TIME + 6, 4, late), None);
    }

    #[test]
    fn the_timer_is_raised_when_its_tick_has_come() {
        let mut devices = Devices::new(false);
        assert_eq!(devices.next_timer(), Cycle::NEVER);
        assert!(devices.write(TIME_COMPARE, 8, 3));
        assert_eq!(devices.next_timer(), Cycle(600));
        assert!(!devices.timer_interrupt(Cycle(599)));
        assert!(devices.timer_interrupt(Cycle(600)));
        assert_eq!(devices.read(TIME, 8, Cycle(650)), Some(3));
    }

    #[test]
    fn a_store_ends_the_run_with_its_status() {
        let mut devices = Devices::new(false);
        assert!(devices.write(TO_HOST, 8, 2));
        assert_eq!(devices.exit(), None);
        assert!(devices.write(TO_HOST, 8, 7));
        assert_eq!(devices.exit(), Some(3));
        assert!(!devices.write(0x1234, 8, 0));
    }
}
