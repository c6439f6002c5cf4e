//! `vsetvli`, `vsetivli` and `vsetvl`.

use super::group::Kind;
use super::unit::{Vector, ILLEGAL_TYPE};

/// Number of elements that a program requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Length {
    /// This number, limited by the maximum.
    Elements(u64),
    /// The maximum.
    Most,
    /// The current number.
    Kept,
}

/// Sets the type and the length; returns the length.
pub(crate) fn set(vector: &mut Vector, kind: u64, length: Length) -> u64 {
    vector.start = 0;
    let Ok(parsed) = Kind::from_bits(kind) else {
        vector.kind = ILLEGAL_TYPE;
        vector.length = 0;
        return 0;
    };
    let most = parsed.most();
    vector.kind = kind;
    vector.length = match length {
        Length::Elements(wanted) => wanted.min(most as u64) as usize,
        Length::Most => most,
        Length::Kept => vector.length.min(most),
    };
    vector.length as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_that_do_not_exist_are_illegal() {
        let mut vector = Vector::new();
        for kind in [4, 4 << 3, 1 << 8, ILLEGAL_TYPE, 3 << 3 | 7, 1 << 3 | 5] {
            assert_eq!(set(&mut vector, kind, Length::Most), 0, "{kind:#x}");
            assert_eq!(vector.kind, ILLEGAL_TYPE);
            assert!(vector.kind().is_err());
        }
    }

    #[test]
    fn lengths_follow_from_type_and_wish() {
        let mut vector = Vector::new();
        assert_eq!(set(&mut vector, 0xc3, Length::Most), 128);
        assert_eq!(set(&mut vector, 3 << 3, Length::Elements(u64::MAX)), 2);
        assert_eq!(set(&mut vector, 0, Length::Kept), 2);
        assert_eq!(set(&mut vector, 5, Length::Elements(2)), 2);
        assert_eq!(set(&mut vector, 2 << 3 | 7, Length::Most), 2);
    }
}
