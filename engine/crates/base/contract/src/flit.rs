/// Maximum number of bytes of a flit, which crosses a link in one of its cycles.
pub const FLIT_BYTES: usize = 8;

/// A piece of a frame: up to [`FLIT_BYTES`] bytes, and whether they end it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flit<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// Whether it is the last of its frame.
    pub last: bool,
}

/// Number of flits of a frame of `bytes` bytes.
pub fn flits(bytes: usize) -> usize {
    bytes.div_ceil(FLIT_BYTES)
}

/// The flits of a frame, in order: all full but the last one.
pub fn flits_of(frame: &[u8]) -> impl Iterator<Item = Flit<'_>> {
    let count = flits(frame.len());
    let pieces = frame.chunks(FLIT_BYTES).enumerate();
    pieces.map(move |(index, bytes)| Flit {
        bytes,
        last: index + 1 == count,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_flit_carries_what_is_left() {
        let frame: Vec<u8> = (0..19).collect();
        let pieces: Vec<Flit<'_>> = flits_of(&frame).collect();
        assert_eq!((pieces.len(), flits(19)), (3, 3));
        assert_eq!(pieces[2].bytes, [16, 17, 18]);
        assert_eq!(
            [false, false, true],
            [0, 1, 2].map(|index: usize| pieces[index].last)
        );
    }
}
