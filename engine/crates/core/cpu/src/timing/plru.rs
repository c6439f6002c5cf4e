//! Tree pseudo-least-recently-used replacement, as rocket-chip's `PseudoLRU`.

use rackwright_state::state;

/// Ages of up to 32 ways: one bit per inner node of a binary tree, whose right (lower-numbered) subtree is a power of two.
#[derive(Clone, Copy)]
pub struct PseudoLru {
    state: u32,
    ways: u32,
    uses: [Use; 32],
}

/// The effect of the use of a way on the nodes above it: the nodes that keep their state, and those that are set.
#[derive(Clone, Copy, Default)]
struct Use {
    kept: u32,
    set: u32,
}

impl PseudoLru {
    /// A tree of `ways` (2 to 32) ways, in the state after reset.
    pub fn new(ways: u32) -> PseudoLru {
        debug_assert!((2..=32).contains(&ways));
        let mut uses = [Use::default(); 32];
        for way in 0..ways {
            uses[way as usize] = Use::of(way, ways);
        }
        PseudoLru { state: 0, ways, uses }
    }

    /// The way to replace next.
    #[inline]
    pub fn oldest(&self) -> u32 {
        let (mut state, mut ways, mut way) = (self.state, self.ways, 0);
        while ways > 1 {
            let right = 1 << (31 - (ways - 1).leading_zeros());
            let left = ways - right;
            let left_is_older = state >> (ways - 2) & 1 == 1;
            if left_is_older {
                way += right;
                state = state >> (right - 1) & mask(left - 1);
                ways = left;
            } else {
                state &= mask(right - 1);
                ways = right;
            }
        }
        way
    }

    /// Marks a way as used.
    #[inline]
    pub fn touch(&mut self, way: u32) {
        let marks = self.uses[way as usize % 32];
        self.state = self.state & marks.kept | marks.set;
    }
}

impl Use {
    fn of(mut way: u32, mut ways: u32) -> Use {
        let mut found = Use {
            kept: u32::MAX,
            set: 0,
        };
        let mut base = 0;
        while ways > 1 {
            let right = 1 << (31 - (ways - 1).leading_zeros());
            let node = 1 << (base + ways - 2);
            found.kept &= !node;
            if way >= right {
                way -= right;
                base += right - 1;
                ways -= right;
            } else {
                found.set |= node;
                ways = right;
            }
        }
        found
    }
}

fn mask(bits: u32) -> u32 {
    (1 << bits) - 1
}

state!(PseudoLru { state });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_just_used_is_not_the_oldest() {
        let mut ages = PseudoLru::new(28);
        for step in 0..1000u32 {
            let way = step * 7 % 28;
            ages.touch(way);
            assert_ne!(ages.oldest(), way);
            assert!(ages.oldest() < 28);
        }
    }

    #[test]
    fn filling_in_order_of_age_visits_every_way() {
        let mut ages = PseudoLru::new(28);
        let mut seen = 0u32;
        for _ in 0..28 {
            let way = ages.oldest();
            seen |= 1 << way;
            ages.touch(way);
        }
        assert!(seen.count_ones() >= 24, "{seen:b}");
    }
}
