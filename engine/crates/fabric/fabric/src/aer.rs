//! Advanced error reporting of a port or of a function (7.8.4): which errors it has seen, the header of the first, and which it signals.

use crate::class::Class;
use serde::{Deserialize, Serialize};

/// An error that a receiver detects, by its bit in the registers for uncorrectable errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// A packet whose sender has marked its data as wrong.
    Poisoned = 12,
    /// A request whose completion has not come in time.
    CompletionTimeout = 14,
    /// A completion that nobody waits for.
    UnexpectedCompletion = 16,
    /// A packet for which there was no room.
    ReceiverOverflow = 17,
    /// A packet that breaks the rules of its own form.
    Malformed = 18,
    /// A request that nobody serves.
    UnsupportedRequest = 20,
    /// A request that access control does not let pass.
    AccessControl = 21,
    /// A packet of a multicast group that is blocked.
    BlockedMulticast = 23,
}

impl Fault {
    /// Whether another one reports it too: the requester by a completion, or the sender of a completion (6.2.3.2.4).
    pub(crate) fn is_advisory(self, class: Class) -> bool {
        let is_completed = class == Class::NonPosted;
        match self {
            Fault::UnexpectedCompletion => true,
            Fault::UnsupportedRequest | Fault::AccessControl => is_completed,
            _ => false,
        }
    }
}

/// What the root complex is told of an error, by the code of its message (2.2.8.3) and the bit of the device registers that
/// counts and enables it (7.5.3.4, 7.5.3.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Severity {
    /// Nothing was lost, or somebody else reports what was.
    Correctable = 0,
    /// A packet was lost.
    NonFatal = 1,
    /// The link cannot be relied on.
    Fatal = 2,
}

impl Severity {
    const ALL: [Severity; 3] = [Severity::Correctable, Severity::NonFatal, Severity::Fatal];

    /// The code of the message.
    pub(crate) fn code(self) -> u8 {
        [0x30, 0x31, 0x33][self as usize]
    }

    /// That of a code.
    pub(crate) fn of_code(code: u8) -> Option<Severity> {
        Severity::ALL.into_iter().find(|severity| severity.code() == code)
    }
}

/// Of the device control register: each severity is signalled that its bit allows, and unsupported requests (7.5.3.4); of
/// the device status register: an unsupported request was seen (7.5.3.5).
const REPORTS_UNSUPPORTED: u32 = 1 << 3;
const UNSUPPORTED: u32 = 1 << 3;
/// Number of the extended capability, in its second version.
const CAPABILITY: u32 = 0x0002_0001;
/// Uncorrectable errors that there are: those of [`Fault`], the last two only at ports.
const UNCORRECTABLE: u32 = 0x0017_5000;
const OF_PORTS: u32 = 0x00a0_0000;
/// Those that are fatal unless software says otherwise.
const FATAL: u32 = 0x0006_0000;
/// The correctable error that there is: one that somebody else reports (6.2.3.2.4). It is not signalled at first.
const ADVISORY: u32 = 1 << 13;
/// Errors that a root port may interrupt for, by severity, and the bits of its status that report them (7.8.4.9,
/// 7.8.4.10); all bits of its status.
const ROOT_COMMANDS: u32 = 7;
const REPORTED: [u32; 3] = [1, 1 << 5, 1 << 6];
const ROOT_STATUS: u32 = 0x7f;

/// Who detects errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reporter {
    /// A function of a card.
    Function,
    /// A port of a switch.
    Port,
    /// A port of the root complex.
    RootPort,
}

/// The registers of the capability.
#[derive(Serialize, Deserialize)]
pub(crate) struct ErrorLog {
    /// The errors that there are.
    known: u32,
    uncorrectable: u32,
    mask: u32,
    severity: u32,
    correctable: u32,
    correctable_mask: u32,
    /// Bits of the device status register (7.5.3.5), which is in another capability.
    pub(crate) device_status: u32,
    /// The error whose header is kept.
    first: u32,
    header: [u32; 4],
    /// Of root ports: command, status, and who sent the first message of either kind.
    root: Option<[u32; 3]>,
}

impl ErrorLog {
    /// The registers after reset.
    pub(crate) fn new(reporter: Reporter) -> ErrorLog {
        let ports = match reporter {
            Reporter::Function => 0,
            Reporter::Port | Reporter::RootPort => OF_PORTS,
        };
        ErrorLog {
            known: UNCORRECTABLE | ports,
            uncorrectable: 0,
            mask: 0,
            severity: FATAL,
            correctable: 0,
            correctable_mask: ADVISORY,
            device_status: 0,
            first: 0,
            header: [0; 4],
            root: (reporter == Reporter::RootPort).then_some([0; 3]),
        }
    }

    /// A word of the capability.
    pub(crate) fn read(&self, word: u64) -> u32 {
        match word {
            0 => CAPABILITY,
            1 => self.uncorrectable,
            2 => self.mask,
            3 => self.severity,
            4 => self.correctable,
            5 => self.correctable_mask,
            6 => self.first,
            7..=10 => self.header[word as usize - 7],
            11..=13 => self.root.map_or(0, |root| root[word as usize - 11]),
            _ => 0,
        }
    }

    /// Writes the bits of a word that `chosen` has: ones clear a status.
    pub(crate) fn write(&mut self, word: u64, chosen: u32, data: u32) {
        let set = |register: &mut u32, bits: u32| {
            *register = (data & chosen | *register & !chosen) & bits;
        };
        match word {
            1 => self.uncorrectable &= !(data & chosen),
            2 => set(&mut self.mask, self.known),
            3 => set(&mut self.severity, self.known),
            4 => self.correctable &= !(data & chosen),
            5 => set(&mut self.correctable_mask, ADVISORY),
            11 => {
                if let Some([command, ..]) = &mut self.root {
                    set(command, ROOT_COMMANDS);
                }
            }
            12 => {
                if let Some([_, status, _]) = &mut self.root {
                    *status &= !(data & chosen & ROOT_STATUS);
                }
            }
            _ => {}
        }
    }

    /// An error has been detected in a packet with this header by a function with this device control register. Gives what
    /// the root complex is to be told.
    pub(crate) fn detect(
        &mut self,
        fault: Fault,
        header: [u32; 4],
        advisory: bool,
        control: u32,
    ) -> Option<Severity> {
        let (severity, signalled) = self.note(fault, header, advisory);
        self.device_status |= 1 << severity as u32;
        let mut reports = control & 1 << severity as u32 != 0;
        if fault == Fault::UnsupportedRequest {
            self.device_status |= UNSUPPORTED;
            reports &= control & REPORTS_UNSUPPORTED != 0;
        }
        (signalled && reports).then_some(severity)
    }

    /// An error has been detected in a packet with this header; who sent it learns of an `advisory` one by a completion. Gives as
    /// how severe it counts, and whether it is to be signalled (6.2.4.2, 6.2.4.3).
    fn note(&mut self, fault: Fault, header: [u32; 4], advisory: bool) -> (Severity, bool) {
        let bit = 1 << fault as u32;
        if self.severity & bit == 0 && advisory {
            self.correctable |= ADVISORY;
            let signalled = self.correctable_mask & ADVISORY == 0;
            if signalled {
                self.keep(fault, header);
            }
            return (Severity::Correctable, signalled);
        }
        self.keep(fault, header);
        let severity = match self.severity & bit {
            0 => Severity::NonFatal,
            _ => Severity::Fatal,
        };
        (severity, self.mask & bit == 0)
    }

    /// Keeps the header of the first error that software has not cleared.
    fn keep(&mut self, fault: Fault, header: [u32; 4]) {
        let bit = 1 << fault as u32;
        let occupied = self.uncorrectable & 1 << self.first != 0;
        self.uncorrectable |= bit;
        if self.mask & bit == 0 && !occupied {
            (self.first, self.header) = (fault as u32, header);
        }
    }

    /// A root port has got a message, or has an error itself to tell: `source` is who (7.8.4.10, 7.8.4.11).
    pub(crate) fn tell(&mut self, severity: Severity, source: u16) {
        let Some([_, status, sources]) = &mut self.root else {
            return;
        };
        let (received, place) = match severity {
            Severity::Correctable => (1, 0),
            _ => (1 << 2, 16),
        };
        let is_first = *status & received == 0;
        *status |= REPORTED[severity as usize] | if is_first { received } else { received << 1 };
        if !is_first {
            return;
        }
        *sources = *sources & !(0xffff << place) | u32::from(source) << place;
        if severity == Severity::Fatal {
            *status |= 1 << 4;
        }
    }

    /// Whether a root port has been told of an error for which software has it interrupt (6.2.4.1.2).
    pub(crate) fn interrupts(&self) -> bool {
        let Some([command, status, _]) = self.root else {
            return false;
        };
        let mut reported = REPORTED.into_iter().enumerate();
        reported.any(|(severity, bit)| command >> severity & 1 != 0 && status & bit != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: [u32; 4] = [1, 2, 3, 4];

    #[test]
    fn the_header_of_the_first_error_is_kept_until_software_clears_it() {
        let mut log = ErrorLog::new(Reporter::Function);
        assert_eq!(
            log.note(Fault::UnsupportedRequest, HEADER, false),
            (Severity::NonFatal, true)
        );
        assert_eq!(log.note(Fault::Malformed, [9; 4], false), (Severity::Fatal, true));
        assert_eq!(
            (log.read(1), log.read(6), log.read(7)),
            (1 << 20 | 1 << 18, 20, 1)
        );
        log.write(1, u32::MAX, 1 << 20);
        log.note(Fault::UnsupportedRequest, [5; 4], false);
        assert_eq!((log.read(6), log.read(10)), (20, 5));
    }

    #[test]
    fn what_somebody_else_reports_is_correctable_and_not_signalled_at_first() {
        let mut log = ErrorLog::new(Reporter::Function);
        let note = |log: &mut ErrorLog| log.note(Fault::UnsupportedRequest, HEADER, true);
        assert_eq!(note(&mut log), (Severity::Correctable, false));
        assert_eq!((log.read(1), log.read(4)), (0, ADVISORY));
        log.write(5, u32::MAX, 0);
        assert_eq!(note(&mut log), (Severity::Correctable, true));
        assert_eq!((log.read(1), log.read(7)), (1 << 20, 1));
        // Software may call it fatal, and then it is.
        log.write(3, u32::MAX, 1 << 20);
        assert_eq!(note(&mut log), (Severity::Fatal, true));
        log.write(2, u32::MAX, 1 << 20);
        assert_eq!(note(&mut log), (Severity::Fatal, false));
    }

    #[test]
    fn a_root_port_keeps_who_told_it_first() {
        let mut log = ErrorLog::new(Reporter::RootPort);
        log.tell(Severity::Correctable, 0x0300);
        log.tell(Severity::NonFatal, 0x0200);
        log.tell(Severity::NonFatal, 0x0400);
        assert_eq!(
            (log.read(12), log.read(13)),
            (1 | 1 << 2 | 1 << 3 | 1 << 5, 0x0200_0300)
        );
        log.write(12, u32::MAX, 1 << 2 | 1 << 3);
        log.tell(Severity::Fatal, 0x0400);
        assert_eq!((log.read(12) & 0x54, log.read(13)), (0x54, 0x0400_0300));
        assert_eq!(
            Severity::ALL.map(|each| Severity::of_code(each.code())),
            Severity::ALL.map(Some)
        );
        // It interrupts for the kinds that software has chosen.
        for (command, interrupts) in [(1, true), (2, true), (4, true), (0, false)] {
            log.write(11, u32::MAX, command);
            assert_eq!(log.interrupts(), interrupts, "{command}");
        }
        log.write(11, u32::MAX, 6);
        log.write(12, u32::MAX, 1 << 5 | 1 << 6);
        assert!(!log.interrupts());
        let mut other = ErrorLog::new(Reporter::Function);
        other.tell(Severity::Fatal, 1);
        assert_eq!(other.read(12), 0);
    }
}
