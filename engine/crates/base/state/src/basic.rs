use crate::{Pass, State, StateError};
use rackwright_time::{Cycle, Cycles, Domain};
use std::collections::{BTreeMap, VecDeque};

macro_rules! number {
    ($($kind:ty),*) => {$(
        impl State for $kind {
            #[inline]
            fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
                let mut bytes = self.to_le_bytes();
                by.bytes(&mut bytes)?;
                *self = <$kind>::from_le_bytes(bytes);
                Ok(())
            }
        }
    )*};
}

number!(u8, u16, u32, u64, u128, i32);

impl State for usize {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        by.as_number(self, |number| *number as u64, |number| number.try_into().ok())
    }
}

impl State for bool {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        let mut byte = u8::from(*self);
        byte.pass(by)?;
        *self = match byte {
            0 => false,
            1 => true,
            _ => return Err(StateError::Damaged),
        };
        Ok(())
    }
}

impl<C: Domain> State for Cycle<C> {
    #[inline]
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.0.pass(by)
    }
}

impl<C: Domain> State for Cycles<C> {
    #[inline]
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.0.pass(by)
    }
}

impl<T: State + Default> State for Option<T> {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        let mut is_some = self.is_some();
        is_some.pass(by)?;
        if !is_some {
            *self = None;
            return Ok(());
        }
        self.get_or_insert_with(T::default).pass(by)
    }
}

impl<T: State + Default> State for Vec<T> {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        let count = by.count(self.len())?;
        self.resize_with(count, T::default);
        self.iter_mut().try_for_each(|item| item.pass(by))
    }
}

impl<T: State + Default> State for VecDeque<T> {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        by.queue(self, T::default)
    }
}

impl<K: State + Clone + Default + Ord, V: State + Default> State for BTreeMap<K, V> {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        by.map(self, V::default)
    }
}

impl<T: State, const N: usize> State for [T; N] {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.iter_mut().try_for_each(|item| item.pass(by))
    }
}

/// Their number does not change.
impl<T: State> State for [T] {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        by.each(self.iter_mut())
    }
}

impl<T: State + ?Sized> State for Box<T> {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        (**self).pass(by)
    }
}

impl<A: State, B: State> State for (A, B) {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.0.pass(by)?;
        self.1.pass(by)
    }
}

impl<A: State, B: State, C: State> State for (A, B, C) {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.0.pass(by)?;
        self.1.pass(by)?;
        self.2.pass(by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state;
    use rackwright_time::Hart;

    #[derive(Default, Debug, PartialEq)]
    struct Part {
        at: Cycle<Hart>,
        waits: Option<u32>,
        queue: VecDeque<(u8, bool)>,
        table: [u16; 3],
    }

    state!(Part {
        at,
        waits,
        queue,
        table
    });

    fn saved(part: &mut Part) -> Vec<u8> {
        let mut bytes = Vec::new();
        part.pass(&mut Pass::Save(&mut bytes)).unwrap();
        bytes
    }

    #[test]
    fn a_part_is_read_back_as_it_was_written() {
        let mut part = Part {
            at: Cycle::new(7),
            waits: Some(3),
            queue: [(1, true), (2, false)].into(),
            table: [4, 5, 6],
        };
        let bytes = saved(&mut part);
        let mut other = Part {
            queue: [(9, true); 5].into(),
            ..Part::default()
        };
        let mut from = Pass::Restore(&bytes);
        other.pass(&mut from).unwrap();
        assert_eq!(other, part);
        assert!(matches!(from, Pass::Restore([])));
    }

    #[test]
    fn bytes_of_something_else_are_refused() {
        let bytes = saved(&mut Part::default());
        for length in 0..bytes.len() {
            let read = Part::default().pass(&mut Pass::Restore(&bytes[..length]));
            assert_eq!(read, Err(StateError::Damaged), "{length} bytes");
        }
        // A queue that is longer than what is left.
        let mut long = bytes.clone();
        long[9..17].copy_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(
            Part::default().pass(&mut Pass::Restore(&long)),
            Err(StateError::Damaged)
        );
    }
}
