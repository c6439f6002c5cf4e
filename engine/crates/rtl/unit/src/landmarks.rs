use rackwright_time::unit::Cycle;

/// An access to memory, in the unit's cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Time of its request.
    pub at: Cycle,
    /// When it was answered.
    pub answered: Cycle,
}

/// The memory accesses that delimit the parts of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Landmarks {
    /// The read that was requested first.
    pub first_read: Option<Access>,
    /// The write that was requested last.
    pub last_write: Option<Access>,
}

impl Landmarks {
    /// Records an access; accesses are passed in the order of their requests.
    pub(crate) fn note(&mut self, write: bool, at: Cycle, answered: Cycle) {
        let asked = Access { at, answered };
        if write {
            self.last_write = Some(asked);
        } else {
            self.first_read.get_or_insert(asked);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycle(number: u64) -> Cycle {
        Cycle::new(number)
    }

    #[test]
    fn the_first_read_and_the_last_write_are_kept() {
        let mut landmarks = Landmarks::default();
        for (write, at) in [(false, 3), (false, 4), (true, 7), (false, 8), (true, 9)] {
            landmarks.note(write, cycle(at), cycle(at + 20));
        }
        let asked = |at| {
            Some(Access {
                at: cycle(at),
                answered: cycle(at + 20),
            })
        };
        assert_eq!(landmarks.first_read, asked(3));
        assert_eq!(landmarks.last_write, asked(9));
    }
}
