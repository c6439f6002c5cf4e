//! The checksum of the Internet protocols (RFC 1071).

/// A one's complement sum, of numbers of two bytes in the order of the network.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Sum(u64);

impl Sum {
    /// With these bytes added. An odd byte at the end counts as if a zero followed, so that nothing can be added after
    /// it.
    #[inline]
    pub(crate) fn with(self, bytes: &[u8]) -> Sum {
        let words = bytes.chunks_exact(4);
        let mut last = [0; 4];
        last[..words.remainder().len()].copy_from_slice(words.remainder());
        let words = words.map(|word| [word[0], word[1], word[2], word[3]]);
        let sum: u64 = (words.chain([last]))
            .map(|word| u64::from(u32::from_be_bytes(word)))
            .sum();
        Sum(self.0 + sum)
    }

    /// With this number added.
    #[inline]
    pub(crate) fn with_number(self, number: u16) -> Sum {
        Sum(self.0 + u64::from(number))
    }

    /// In sixteen bits.
    #[inline]
    pub(crate) fn folded(self) -> u16 {
        let mut sum = self.0;
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_rfc() {
        let sum = Sum::default().with(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        assert_eq!(sum.folded(), 0xddf2);
    }

    #[test]
    fn parts_add_up_and_an_odd_byte_is_the_higher_one() {
        let bytes: Vec<u8> = (0..97_u8).map(|at| at.wrapping_mul(5)).collect();
        for split in (0..96).step_by(2) {
            let (head, tail) = bytes.split_at(split);
            let parts = Sum::default().with(head).with(tail);
            assert_eq!(parts.folded(), Sum::default().with(&bytes).folded());
        }
        assert_eq!(Sum::default().with(&[0x12]).with_number(3).folded(), 0x1203);
    }
}
