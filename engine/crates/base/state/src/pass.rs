use std::collections::{BTreeMap, VecDeque};

/// Why a part's state cannot be saved or restored.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// The bytes are not the state of such a part.
    #[error("is damaged, or of another version of Rackwright")]
    Damaged,
    /// The part has state that cannot be saved.
    #[error("{0}")]
    Unsaved(String),
    /// The state cannot be saved at this time, but soon: an access is under way.
    #[error("an access is under way")]
    Busy,
}

/// One pass over the state of a part, which either writes it or reads it back.
pub enum Pass<'a> {
    /// Appends the state to these bytes.
    Save(&'a mut Vec<u8>),
    /// Removes the state from the front of these bytes.
    Restore(&'a [u8]),
}

/// A part with state.
pub trait State {
    /// Passes each of its fields in the same order, whether they are saved or restored.
    ///
    /// # Errors
    /// [`StateError`]; a part that was to be restored is unusable then.
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError>;
}

impl Pass<'_> {
    /// Whether the state is read back.
    pub fn restores(&self) -> bool {
        matches!(self, Pass::Restore(_))
    }

    /// Passes bytes whose number is known.
    ///
    /// # Errors
    /// [`StateError::Damaged`] if there are fewer.
    #[inline]
    pub fn bytes(&mut self, bytes: &mut [u8]) -> Result<(), StateError> {
        match self {
            Pass::Save(saved) => saved.extend_from_slice(bytes),
            Pass::Restore(rest) => {
                let (own, others) = rest.split_at_checked(bytes.len()).ok_or(StateError::Damaged)?;
                bytes.copy_from_slice(own);
                *rest = others;
            }
        }
        Ok(())
    }

    /// Passes a number of items; returns that which was saved. It is no larger than the number of bytes that are left,
    /// as each item takes one at least.
    ///
    /// # Errors
    /// [`StateError::Damaged`] if there are not as many.
    pub fn count(&mut self, present: usize) -> Result<usize, StateError> {
        let mut count = present as u64;
        count.pass(self)?;
        match self {
            Pass::Restore(rest) if count > rest.len() as u64 => Err(StateError::Damaged),
            _ => Ok(count as usize),
        }
    }

    /// Passes parts whose number does not change.
    ///
    /// # Errors
    /// [`StateError::Damaged`] if another number was saved, or as of a part.
    pub fn each<'p, S: State + 'p>(
        &mut self,
        parts: impl ExactSizeIterator<Item = &'p mut S>,
    ) -> Result<(), StateError> {
        let here = parts.len();
        let mut count = here as u64;
        count.pass(self)?;
        if count != here as u64 {
            return Err(StateError::Damaged);
        }
        for part in parts {
            part.pass(self)?;
        }
        Ok(())
    }

    /// Passes a list of items, of which `blank` makes one to be read into.
    ///
    /// # Errors
    /// As of an item.
    pub fn list<S: State>(&mut self, list: &mut Vec<S>, blank: impl Fn() -> S) -> Result<(), StateError> {
        let count = self.count(list.len())?;
        list.resize_with(count, blank);
        list.iter_mut().try_for_each(|item| item.pass(self))
    }

    /// Passes a value that there may be, of which `blank` makes one to be read into.
    ///
    /// # Errors
    /// As of the value.
    pub fn optional<S: State>(
        &mut self,
        value: &mut Option<S>,
        blank: impl Fn() -> S,
    ) -> Result<(), StateError> {
        let mut is_there = value.is_some();
        is_there.pass(self)?;
        if !is_there {
            *value = None;
            return Ok(());
        }
        value.get_or_insert_with(blank).pass(self)
    }

    /// Passes entries by their keys, for whose values `blank` makes one to be read into.
    ///
    /// # Errors
    /// As of a key or a value.
    pub fn map<K: State + Clone + Default + Ord, V: State>(
        &mut self,
        map: &mut BTreeMap<K, V>,
        blank: impl Fn() -> V,
    ) -> Result<(), StateError> {
        let count = self.count(map.len())?;
        if !self.restores() {
            return map.iter_mut().try_for_each(|(key, value)| {
                key.clone().pass(self)?;
                value.pass(self)
            });
        }
        map.clear();
        for _ in 0..count {
            let (mut key, mut value) = (K::default(), blank());
            key.pass(self)?;
            value.pass(self)?;
            map.insert(key, value);
        }
        Ok(())
    }

    /// Passes one of a few values, by its place among `all`.
    ///
    /// # Errors
    /// [`StateError::Damaged`] if the saved place is not one of theirs.
    ///
    /// # Panics
    /// When the value is none of them.
    pub fn one_of<T: Copy + PartialEq>(&mut self, value: &mut T, all: &[T]) -> Result<(), StateError> {
        let of = |value: &T| all.iter().position(|each| each == value);
        self.as_number(
            value,
            |value| of(value).expect("all values are listed") as u64,
            |place| all.get(usize::try_from(place).ok()?).copied(),
        )
    }

    /// Passes a queue of items, of which `blank` makes one to be read into.
    ///
    /// # Errors
    /// As of an item.
    pub fn queue<S: State>(
        &mut self,
        queue: &mut VecDeque<S>,
        blank: impl Fn() -> S,
    ) -> Result<(), StateError> {
        let count = self.count(queue.len())?;
        queue.resize_with(count, blank);
        queue.iter_mut().try_for_each(|item| item.pass(self))
    }

    /// Passes a value that is a number: `of` makes it one, and `from` is the way back.
    ///
    /// # Errors
    /// [`StateError::Damaged`] if the number is none of those values.
    pub fn as_number<T>(
        &mut self,
        value: &mut T,
        of: impl Fn(&T) -> u64,
        from: impl Fn(u64) -> Option<T>,
    ) -> Result<(), StateError> {
        let mut number = of(value);
        number.pass(self)?;
        if self.restores() {
            *value = from(number).ok_or(StateError::Damaged)?;
        }
        Ok(())
    }
}

/// Implements [`State`](crate::State) for a type by its fields.
#[macro_export]
macro_rules! state {
    ($type:ty { $($field:ident),* $(,)? }) => {
        impl $crate::State for $type {
            fn pass(&mut self, by: &mut $crate::Pass<'_>) -> ::std::result::Result<(), $crate::StateError> {
                $($crate::State::pass(&mut self.$field, by)?;)*
                Ok(())
            }
        }
    };
}
