use rackwright_time::unit::Cycle;

/// An access to memory, in the unit's cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// When it was asked for.
    pub at: Cycle,
    /// When it was answered.
    pub answered: Cycle,
}

/// The accesses to memory that tell the parts of an operation apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Landmarks {
    /// The read that was asked for first.
    pub first_read: Option<Access>,
    /// The write that was asked for last.
    pub last_write: Option<Access>,
}

impl Landmarks {
    /// Notes an access; accesses come in the order in which they are asked for.
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
