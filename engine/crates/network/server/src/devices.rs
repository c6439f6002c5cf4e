use rackwright_cpu::DeviceAccess;
use rackwright_time::Cycle;

/// Ends the run: a 64-bit store of (status << 1 | 1).
const TO_HOST: u64 = 0x1000_1000;
/// Prints: a store of one byte.
const CONSOLE: u64 = 0x1000_1008;
/// The core-local interruptor, as on SiFive's chips: a software interrupt of four bytes for each hart, a time to compare
/// with for each, time.
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
    software_interrupts: Vec<bool>,
    time_compares: Vec<u64>,
}

impl Devices {
    pub(crate) fn new(echo: bool, harts: usize) -> Devices {
        Devices {
            console: Vec::new(),
            echo,
            exit: None,
            software_interrupts: vec![false; harts],
            time_compares: vec![u64::MAX; harts],
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

    pub(crate) fn software_interrupt(&self, hart: usize) -> bool {
        self.software_interrupts[hart]
    }

    /// Whether a hart's timer interrupt is raised at `now`.
    pub(crate) fn timer_interrupt(&self, hart: usize, now: Cycle) -> bool {
        now.0 / CYCLES_PER_TICK >= self.time_compares[hart]
    }

    /// When a hart's timer interrupt will be raised; [`Cycle::NEVER`] when it is not set.
    pub(crate) fn next_timer(&self, hart: usize) -> Cycle {
        Cycle::new(self.time_compares[hart].saturating_mul(CYCLES_PER_TICK))
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
            TIME => now.0 / CYCLES_PER_TICK,
            TO_HOST | CONSOLE => 0,
            register => match self.place_of_hart(register)? {
                OfHart::SoftwareInterrupts(first) => self.software_interrupts_from(first),
                OfHart::TimeCompare(hart) => self.time_compares[hart],
            },
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
            TO_HOST if value & 1 == 1 => self.exit = Some((value >> 1) as i32),
            TO_HOST => {}
            CONSOLE if place.shift == 0 => self.print(value as u8),
            register => match self.place_of_hart(register) {
                Some(OfHart::SoftwareInterrupts(first)) => {
                    let lines = merged(self.software_interrupts_from(first));
                    let raised = |index| lines >> (32 * index) & 1 == 1;
                    let pair = self.software_interrupts[first..].iter_mut().take(2);
                    pair.enumerate().for_each(|(index, line)| *line = raised(index));
                }
                Some(OfHart::TimeCompare(hart)) => {
                    self.time_compares[hart] = merged(self.time_compares[hart])
                }
                None => return false,
            },
        }
        true
    }

    /// Which harts a register belongs to, if it does to any that is there.
    fn place_of_hart(&self, register: u64) -> Option<OfHart> {
        let harts = self.time_compares.len() as u64;
        let number = |base: u64, each: u64| {
            let hart = register.checked_sub(base)? / each;
            (hart < harts).then_some(hart as usize)
        };
        number(SOFTWARE_INTERRUPT, 4)
            .map(OfHart::SoftwareInterrupts)
            .or_else(|| number(TIME_COMPARE, 8).map(OfHart::TimeCompare))
    }

    /// The software interrupts of hart `first` and the next one, as a register of eight bytes has them.
    fn software_interrupts_from(&self, first: usize) -> u64 {
        let lines = self.software_interrupts[first..].iter().take(2);
        let bits = lines
            .enumerate()
            .map(|(index, line)| u64::from(*line) << (32 * index));
        bits.sum()
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

/// A register of the interruptor.
enum OfHart {
    /// Of this hart and the next one.
    SoftwareInterrupts(usize),
    TimeCompare(usize),
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
        let mut devices = Devices::new(false, 1);
        assert!(devices.write(TIME_COMPARE, 8, 0x1111_2222_3333_4444));
        assert!(devices.write(TIME_COMPARE, 4, 0x5555_5555));
        assert!(devices.write(TIME_COMPARE + 4, 4, 0x7777_7777));
        assert_eq!(
            devices.read(TIME_COMPARE, 8, Cycle::ZERO),
            Some(0x7777_7777_5555_5555)
        );
        let late = Cycle::new(0x1_0000_0002 * CYCLES_PER_TICK);
        assert_eq!(devices.read(TIME, 4, late), Some(2));
        assert_eq!(devices.read(TIME + 4, 4, late), Some(1));
        assert_eq!(devices.read(TIME + 6, 4, late), None);
    }

    #[test]
    fn the_timer_is_raised_when_its_tick_has_come() {
        let mut devices = Devices::new(false, 1);
        assert_eq!(devices.next_timer(0), Cycle::NEVER);
        assert!(devices.write(TIME_COMPARE, 8, 3));
        assert_eq!(devices.next_timer(0), Cycle::new(600));
        assert!(!devices.timer_interrupt(0, Cycle::new(599)));
        assert!(devices.timer_interrupt(0, Cycle::new(600)));
        assert_eq!(devices.read(TIME, 8, Cycle::new(650)), Some(3));
    }

    #[test]
    fn each_hart_has_its_own_interrupts() {
        let mut devices = Devices::new(false, 3);
        assert!(devices.write(SOFTWARE_INTERRUPT + 4, 4, 1));
        assert!(devices.write(SOFTWARE_INTERRUPT + 8, 4, 1));
        assert!(devices.write(TIME_COMPARE + 16, 8, 7));
        let raised = [0, 1, 2].map(|hart| devices.software_interrupt(hart));
        assert_eq!(raised, [false, true, true]);
        assert!(devices.write(SOFTWARE_INTERRUPT + 4, 4, 0));
        assert_eq!(devices.read(SOFTWARE_INTERRUPT + 4, 4, Cycle::ZERO), Some(0));
        assert_eq!(devices.read(SOFTWARE_INTERRUPT + 8, 4, Cycle::ZERO), Some(1));
        assert_eq!(
            (devices.next_timer(1), devices.next_timer(2)),
            (Cycle::NEVER, Cycle::new(1400))
        );
        assert!(!devices.write(TIME_COMPARE + 24, 8, 7));
        assert!(!devices.write(SOFTWARE_INTERRUPT + 16, 4, 1));
    }

    #[test]
    fn a_store_ends_the_run_with_its_status() {
        let mut devices = Devices::new(false, 1);
        assert!(devices.write(TO_HOST, 8, 2));
        assert_eq!(devices.exit(), None);
        assert!(devices.write(TO_HOST, 8, 7));
        assert_eq!(devices.exit(), Some(3));
        assert!(!devices.write(0x1234, 8, 0));
    }
}
