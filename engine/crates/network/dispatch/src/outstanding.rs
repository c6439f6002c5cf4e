use crate::RequestKey;

/// Maximum number of outstanding requests with the same lowest bits of their hash.
const WAYS: usize = 4;
/// Number of epochs for which a request is remembered; the last one is incomplete.
pub(crate) const EPOCHS: u32 = 4;
/// In place of a replica: a free slot.
const FREE: u16 = u16::MAX;
/// In place of a replica: the request waits here.
pub(crate) const HELD: u16 = u16::MAX - 1;

/// The outstanding requests in a rack: a table of fixed size, as in hardware.
///
/// Time is divided into epochs. A request is forgotten when its epoch is [`EPOCHS`] ago, which needs no search.
#[derive(Clone, Debug)]
pub(crate) struct Outstanding {
    slots: Vec<Slot>,
    mask: u64,
}

/// An outstanding or former request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    key: RequestKey,
    /// The epoch in which it was sent to its replica.
    pub(crate) epoch: u32,
    /// The index of its replica.
    pub(crate) replica: u16,
}

/// The place of an arriving request in the table.
pub(crate) enum Place {
    /// It is outstanding.
    Known(u16),
    /// It is not, and can be noted at this index.
    Free(usize),
    /// It is not, and there is no room for it.
    Full,
}

impl Outstanding {
    /// A table of `size` slots, a power of two of at least [`WAYS`].
    pub(crate) fn new(size: usize) -> Outstanding {
        let free = Slot {
            key: RequestKey { client: 0, number: 0 },
            epoch: 0,
            replica: FREE,
        };
        Outstanding {
            slots: vec![free; size],
            mask: (size / WAYS - 1) as u64,
        }
    }

    /// The place of a request, or a free one for it.
    #[inline]
    pub(crate) fn find(&self, key: RequestKey, epoch: u32) -> Place {
        let first = self.bucket(key);
        let mut place = Place::Full;
        for (slot, index) in self.slots[first..first + WAYS].iter().zip(first..) {
            if !slot.is_live(epoch) {
                if matches!(place, Place::Full) {
                    place = Place::Free(index);
                }
            } else if slot.key == key {
                return Place::Known(slot.replica);
            }
        }
        place
    }

    /// Records a request at an index returned by [`Outstanding::find`].
    #[inline]
    pub(crate) fn note(&mut self, index: usize, key: RequestKey, epoch: u32, replica: u16) {
        self.slots[index] = Slot { key, epoch, replica };
    }

    /// Takes a request out.
    #[inline]
    pub(crate) fn take(&mut self, key: RequestKey, epoch: u32) -> Option<Slot> {
        let first = self.bucket(key);
        let bucket = &mut self.slots[first..first + WAYS];
        let slot = bucket
            .iter_mut()
            .find(|slot| slot.is_live(epoch) && slot.key == key)?;
        let taken = *slot;
        slot.replica = FREE;
        Some(taken)
    }

    #[inline]
    fn bucket(&self, key: RequestKey) -> usize {
        (hash(key) & self.mask) as usize * WAYS
    }
}

impl Slot {
    #[inline]
    fn is_live(&self, epoch: u32) -> bool {
        self.replica != FREE && epoch.wrapping_sub(self.epoch) < EPOCHS
    }
}

/// Exclusive ors of shifted bits only: a few gates. Numbers that follow each other go to buckets that do.
#[inline]
fn hash(key: RequestKey) -> u64 {
    let mixed = key.number ^ key.client.rotate_left(23) ^ key.client >> 7;
    let folded = mixed ^ mixed >> 32;
    folded ^ folded >> 15
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u64) -> RequestKey {
        RequestKey { client: 7, number }
    }

    #[test]
    fn requests_are_known_until_they_are_taken_out_or_forgotten() {
        let mut table = Outstanding::new(16);
        let Place::Free(index) = table.find(key(1), 9) else {
            panic!("an empty table has room")
        };
        table.note(index, key(1), 9, 5);
        assert!(matches!(table.find(key(1), 12), Place::Known(5)));
        assert!(matches!(table.find(key(1), 13), Place::Free(_)));
        assert!(table.clone().take(key(1), 13).is_none());
        assert_eq!(table.take(key(1), 12).unwrap().epoch, 9);
        assert!(table.take(key(1), 12).is_none());
    }

    #[test]
    fn a_bucket_can_be_full() {
        let mut table = Outstanding::new(4);
        for number in 0..4 {
            let Place::Free(index) = table.find(key(number), 0) else {
                panic!("there is room")
            };
            table.note(index, key(number), 0, 0);
        }
        assert!(matches!(table.find(key(4), 0), Place::Full));
        assert!(matches!(table.find(key(3), 0), Place::Known(0)));
    }

    #[test]
    fn clients_spread_over_the_table() {
        let mut table = Outstanding::new(4096);
        let mut missing = 0;
        for client in 0..30_u64 {
            for number in 0..50 {
                let client = (0xac10_0000 + client) << 16 | 11211;
                let key = RequestKey { client, number };
                match table.find(key, 0) {
                    Place::Free(index) => table.note(index, key, 0, 1),
                    Place::Full => missing += 1,
                    Place::Known(_) => panic!("keys are distinct"),
                }
            }
        }
        assert!(missing < 40, "{missing} of 1500 found no room");
    }
}
