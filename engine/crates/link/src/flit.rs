use rackwright_stats::Digest;

/// The most bytes a flit carries.
const WIDEST: usize = 8;

/// What crosses a link in one of its cycles: up to 8 bytes, and whether they end a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flit {
    data: [u8; WIDEST],
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
            (1..=WIDEST).contains(&bytes.len()),
            "a flit carries 1 to {WIDEST} bytes, not {}",
            bytes.len()
        );
        let mut data = [0; WIDEST];
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

    /// Whether this is the last flit of its packet.
    pub fn last(&self) -> bool {
        self.last
    }

    /// Adds the flit to a digest.
    pub fn digest(&self, digest: &mut Digest) {
        digest.bytes(&self.data);
        digest.number(u64::from(self.valid) << 1 | u64::from(self.last));
    }
}
