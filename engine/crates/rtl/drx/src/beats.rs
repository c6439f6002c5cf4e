/// Tags of beats whose responses arrive in any order and are counted in the order of their requests.
#[derive(Debug, Clone)]
pub struct BeatRing {
    tags: usize,
    busy: u64,
    finished: u64,
    ends: u64,
    head: usize,
    tail: usize,
}

impl BeatRing {
    /// A ring of `tags` tags, a power of two up to 64.
    pub fn new(tags: usize) -> BeatRing {
        BeatRing {
            tags,
            busy: 0,
            finished: 0,
            ends: 0,
            head: 0,
            tail: 0,
        }
    }

    /// The tag of the next beat, if one is free.
    pub fn free(&self) -> Option<usize> {
        (self.busy >> self.tail & 1 == 0).then_some(self.tail)
    }

    /// No beat is outstanding.
    pub fn is_empty(&self) -> bool {
        self.busy == 0
    }

    /// A transfer is done, and all before it are.
    pub fn ended(&self) -> bool {
        self.finished & self.ends & 1 << self.head != 0
    }

    /// One cycle, in which a beat may be requested, which is the last of its transfer or not, and one may complete.
    pub fn cycle(&mut self, asked: Option<bool>, done: Option<usize>) {
        let head = 1 << self.head;
        let retires = self.finished & head != 0;
        if let Some(last) = asked {
            let tail = 1 << self.tail;
            self.busy |= tail;
            self.ends = if last { self.ends | tail } else { self.ends & !tail };
            self.tail = (self.tail + 1) % self.tags;
        }
        if let Some(tag) = done {
            debug_assert!(self.busy >> tag & 1 != 0, "a beat is done that nobody asked for");
            self.finished |= 1 << tag;
        }
        if retires {
            self.busy &= !head;
            self.finished &= !head;
            self.head = (self.head + 1) % self.tags;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::BeatRing;

    #[test]
    fn transfers_end_in_the_order_in_which_they_were_asked_for() {
        let mut ring = BeatRing::new(4);
        ring.cycle(Some(true), None);
        ring.cycle(Some(false), Some(0));
        assert!(ring.ended());
        ring.cycle(Some(true), None);
        assert!(!ring.ended());
        ring.cycle(None, Some(2));
        ring.cycle(None, None);
        assert!(!ring.ended(), "the beat before it is not done");
        ring.cycle(None, Some(1));
        ring.cycle(None, None);
        assert!(ring.ended());
        ring.cycle(None, None);
        assert!(ring.is_empty());
    }
}
