/// The most bytes a flit carries: a 64-bit port.
pub const FLIT_BYTES: usize = 8;

/// What crosses a link in one of its cycles: up to 8 bytes, and whether they end a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flit {
    data: [u8; FLIT_BYTES],
    valid: u8,
    last: bool,
}

impl Flit {
    /// A flit of the first `bytes`.
    ///
    /// # Panics
    /// When there are none or more than 8.
    pub fn new(bytes: &[u8], last: bool) -> Flit {
        assert!(
            (1..=FLIT_BYTES).contains(&bytes.len()),
            "a flit carries 1 to {FLIT_BYTES} bytes, not {}",
            bytes.len()
        );
        let mut data = [0; FLIT_BYTES];
        data[..bytes.len()].copy_from_slice(bytes);
        Flit {
            data,
            valid: bytes.len() as u8,
            last,
        }
    }

    /// The valid bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.data[..usize::from(self.valid)]
    }

    /// Whether this is the last flit of its frame.
    pub fn last(&self) -> bool {
        self.last
    }
}

/// The flits of a frame, in order: all full but the last one, which says how much of it counts.
pub fn flits_of(frame: &[u8]) -> impl Iterator<Item = Flit> + '_ {
    let count = frame.len().div_ceil(FLIT_BYTES);
    frame
        .chunks(FLIT_BYTES)
        .enumerate()
        .map(move |(index, bytes)| Flit::new(bytes, index + 1 == count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_flit_carries_what_is_left() {
        let frame: Vec<u8> = (0..19).collect();
        let flits: Vec<Flit> = flits_of(&frame).collect();
        assert_eq!(flits.len(), 3);
        assert_eq!(flits[2].bytes(), [16, 17, 18]);
        assert_eq!(flits.iter().filter(|flit| flit.last()).count(), 1);
        assert!(flits[2].last());
    }
}
