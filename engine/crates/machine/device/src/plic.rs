use crate::device::{decode, encode, Device, RestoreError};
use rackwright_time::Cycle;
use serde::{Deserialize, Serialize};

/// Places of the registers (RISC-V PLIC specification 1.0.0, chapter 3).
const PENDING: u64 = 0x1000;
const ENABLE: u64 = 0x2000;
const ENABLE_STRIDE: u64 = 0x80;
const CONTEXT: u64 = 0x20_0000;
const CONTEXT_STRIDE: u64 = 0x1000;
/// Highest priority.
const PRIORITIES: u32 = 7;

/// The platform-level interrupt controller: interrupts of up to 31 sources, by priority, for two contexts of each
/// hart: its machine mode (even numbers) and its supervisor mode (odd ones).
pub struct Plic(State);

#[derive(Clone, Serialize, Deserialize)]
struct State {
    /// Of source n in place n; source 0 does not exist.
    priority: Vec<u32>,
    pending: u32,
    /// Sources that were claimed and not completed.
    claimed: u32,
    /// Sources whose line is high.
    high: u32,
    contexts: Vec<Context>,
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Context {
    enabled: u32,
    threshold: u32,
}

enum Register {
    Priority(usize),
    Pending,
    Enable(usize),
    Threshold(usize),
    Claim(usize),
    /// Reads as zero: beyond the sources that there are.
    Zero,
}

impl Plic {
    /// Number of sources, including source 0, which does not exist.
    pub const SOURCES: u32 = 32;

    /// For `harts` harts.
    pub fn new(harts: usize) -> Plic {
        Plic(State {
            priority: vec![0; Plic::SOURCES as usize],
            pending: 0,
            claimed: 0,
            high: 0,
            contexts: vec![Context::default(); 2 * harts],
        })
    }

    /// Shows the line of `source`, 1 to 31: one that is high interrupts again whenever it was completed.
    pub fn set_line(&mut self, source: u32, high: bool) {
        let bit = 1 << source & !1;
        self.0.high = if high {
            self.0.high | bit
        } else {
            self.0.high & !bit
        };
        self.0.pending |= self.0.high & bit & !self.0.claimed;
    }

    /// Whether `context` is interrupted.
    #[inline]
    pub fn interrupts(&self, context: usize) -> bool {
        self.0.pending != 0 && self.best(context) != 0
    }

    /// The source of highest priority that may interrupt `context`, the lowest number among equals; 0 for none.
    fn best(&self, context: usize) -> u32 {
        let state = &self.0;
        let Context { enabled, threshold } = state.contexts[context];
        let ready = state.pending & !state.claimed & enabled;
        if ready == 0 {
            return 0;
        }
        let open = (1..Plic::SOURCES).filter(|source| ready >> source & 1 != 0);
        let above = open.filter(|source| state.priority[*source as usize] > threshold);
        above
            .max_by_key(|source| (state.priority[*source as usize], std::cmp::Reverse(*source)))
            .unwrap_or(0)
    }

    fn claim(&mut self, context: usize) -> u32 {
        let source = self.best(context);
        if source != 0 {
            self.0.pending &= !(1 << source);
            self.0.claimed |= 1 << source;
        }
        source
    }

    fn register(&self, offset: u64) -> Option<Register> {
        let contexts = self.0.contexts.len() as u64;
        Some(match offset {
            ..PENDING if offset / 4 < u64::from(Plic::SOURCES) => Register::Priority(offset as usize / 4),
            PENDING => Register::Pending,
            ..ENABLE => Register::Zero,
            ENABLE..CONTEXT => {
                let (context, word) = (
                    (offset - ENABLE) / ENABLE_STRIDE,
                    (offset - ENABLE) % ENABLE_STRIDE,
                );
                if context >= contexts || word != 0 {
                    Register::Zero
                } else {
                    Register::Enable(context as usize)
                }
            }
            _ => {
                let (context, register) = (
                    (offset - CONTEXT) / CONTEXT_STRIDE,
                    (offset - CONTEXT) % CONTEXT_STRIDE,
                );
                match register {
                    _ if context >= contexts => return None,
                    0 => Register::Threshold(context as usize),
                    4 => Register::Claim(context as usize),
                    _ => Register::Zero,
                }
            }
        })
    }
}

impl Device for Plic {
    fn read(&mut self, offset: u64, bytes: u8, _: Cycle) -> Option<u64> {
        if bytes != 4 || offset % 4 != 0 {
            return None;
        }
        let value = match self.register(offset)? {
            Register::Priority(source) => self.0.priority[source],
            Register::Pending => self.0.pending,
            Register::Enable(context) => self.0.contexts[context].enabled,
            Register::Threshold(context) => self.0.contexts[context].threshold,
            Register::Claim(context) => self.claim(context),
            Register::Zero => 0,
        };
        Some(value.into())
    }

    fn write(&mut self, offset: u64, bytes: u8, value: u64, _: Cycle) -> bool {
        if bytes != 4 || offset % 4 != 0 {
            return false;
        }
        let value = value as u32;
        match self.register(offset) {
            Some(Register::Priority(source)) if source > 0 => self.0.priority[source] = value & PRIORITIES,
            Some(Register::Enable(context)) => self.0.contexts[context].enabled = value & !1,
            Some(Register::Threshold(context)) => self.0.contexts[context].threshold = value & PRIORITIES,
            Some(Register::Claim(context)) if value < Plic::SOURCES => {
                // A completion for a source that is not enabled is ignored.
                let completed = 1 << value & self.0.contexts[context].enabled;
                self.0.claimed &= !completed;
                self.0.pending |= completed & self.0.high;
            }
            Some(_) => {}
            None => return false,
        }
        true
    }

    fn save(&self) -> Vec<u8> {
        encode(&self.0)
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        let device = "PLIC";
        let state: State = decode(state, device)?;
        let fits = |lengths: &State| (lengths.priority.len(), lengths.contexts.len());
        if fits(&state) != fits(&self.0) {
            return Err(RestoreError { device });
        }
        self.0 = state;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(plic: &mut Plic, offset: u64, value: u64) {
        assert!(plic.write(offset, 4, value, Cycle::ZERO));
    }

    fn get(plic: &mut Plic, offset: u64) -> u64 {
        plic.read(offset, 4, Cycle::ZERO).unwrap()
    }

    const CLAIM_1: u64 = CONTEXT + CONTEXT_STRIDE + 4;

    fn ready() -> Plic {
        let mut plic = Plic::new(1);
        set(&mut plic, 4 * 3, 1);
        set(&mut plic, 4 * 5, 2);
        set(&mut plic, 4 * 6, 2);
        set(&mut plic, ENABLE + ENABLE_STRIDE, 0xffff_ffff);
        // Each of them for a moment.
        for source in [3, 5, 6] {
            plic.set_line(source, true);
            plic.set_line(source, false);
        }
        plic
    }

    #[test]
    fn sources_are_claimed_by_priority_and_then_by_number() {
        let mut plic = ready();
        assert!(plic.interrupts(1) && !plic.interrupts(0));
        assert_eq!([(); 4].map(|()| get(&mut plic, CLAIM_1)), [5, 6, 3, 0]);
        assert!(!plic.interrupts(1));
    }

    #[test]
    fn a_source_interrupts_again_when_it_was_completed() {
        let mut plic = ready();
        assert_eq!(get(&mut plic, CLAIM_1), 5);
        plic.set_line(5, true);
        assert_eq!(get(&mut plic, CLAIM_1), 6);
        set(&mut plic, CLAIM_1, 5);
        assert_eq!(get(&mut plic, CLAIM_1), 5);
    }

    #[test]
    fn a_line_that_is_still_high_interrupts_again() {
        let mut plic = ready();
        plic.set_line(5, true);
        assert_eq!(get(&mut plic, CLAIM_1), 5);
        plic.set_line(5, true);
        assert_eq!(get(&mut plic, CLAIM_1), 6);
        set(&mut plic, CLAIM_1, 5);
        assert_eq!(get(&mut plic, CLAIM_1), 5);
        plic.set_line(5, false);
        set(&mut plic, CLAIM_1, 5);
        assert_eq!(get(&mut plic, CLAIM_1), 3);
    }

    #[test]
    fn a_threshold_keeps_sources_out() {
        let mut plic = ready();
        set(&mut plic, CONTEXT + CONTEXT_STRIDE, 2);
        assert!(!plic.interrupts(1));
        set(&mut plic, CONTEXT + CONTEXT_STRIDE, 1);
        assert_eq!([(); 3].map(|()| get(&mut plic, CLAIM_1)), [5, 6, 0]);
    }

    #[test]
    fn there_is_nothing_beyond_the_contexts() {
        let mut plic = Plic::new(1);
        assert_eq!(plic.read(CONTEXT + 2 * CONTEXT_STRIDE, 4, Cycle::ZERO), None);
        assert!(!plic.write(0, 8, 0, Cycle::ZERO));
        assert!(Plic::new(2).restore(&plic.save()).is_err());
    }
}
