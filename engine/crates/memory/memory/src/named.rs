use crate::ParameterError;
use rackwright_time::Clock;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// A number of a set of parameters that users can set by its name.
pub struct Named<'a> {
    name: String,
    range: RangeInclusive<u64>,
    place: Place<'a>,
}

/// The location of such a number.
pub enum Place<'a> {
    /// In 8 bits.
    Byte(&'a mut u8),
    /// As above.
    Word(&'a mut u32),
    /// As above.
    Long(&'a mut u64),
    /// A count.
    Size(&'a mut usize),
    /// 0 or 1.
    Flag(&'a mut bool),
    /// Cycles per second.
    Clock(&'a mut Clock),
}

impl<'a> Named<'a> {
    /// The number at `place`, which must be in `range` regardless of other settings.
    pub fn new(name: &str, range: RangeInclusive<u64>, place: impl Into<Place<'a>>) -> Named<'a> {
        Named {
            name: name.to_string(),
            range,
            place: place.into(),
        }
    }

    /// The same as a member of a group, whose name comes first.
    #[must_use]
    pub fn of(mut self, whole: &str) -> Named<'a> {
        self.name = format!("{whole}-{}", self.name);
        self
    }

    /// The name for users.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The values allowed regardless of other settings.
    pub fn range(&self) -> &RangeInclusive<u64> {
        &self.range
    }

    /// What it is.
    pub fn value(&self) -> u64 {
        match &self.place {
            Place::Byte(place) => u64::from(**place),
            Place::Word(place) => u64::from(**place),
            Place::Long(place) => **place,
            Place::Size(place) => **place as u64,
            Place::Flag(place) => u64::from(**place),
            Place::Clock(place) => place.hertz(),
        }
    }

    fn set(&mut self, value: u64) -> Result<(), ParameterError> {
        if !self.range.contains(&value) {
            let (least, most) = self.range.clone().into_inner();
            let name = &self.name;
            return Err(ParameterError::new(format!(
                "{name} is {least} to {most}, not {value}"
            )));
        }
        match &mut self.place {
            Place::Byte(place) => **place = value as u8,
            Place::Word(place) => **place = value as u32,
            Place::Long(place) => **place = value,
            Place::Size(place) => **place = value as usize,
            Place::Flag(place) => **place = value != 0,
            Place::Clock(place) => **place = Clock::new(value).expect("the range is one of clocks"),
        }
        Ok(())
    }
}

/// Parameters whose numbers have names.
pub trait NamedParameters {
    /// All of them, in the order in which users see them.
    fn named(&mut self) -> Vec<Named<'_>>;

    /// Checks conditions on several numbers.
    ///
    /// # Errors
    /// [`ParameterError`] with the name of the parameter and the allowed values.
    fn check(&self) -> Result<(), ParameterError>;

    /// Sets the parameters with these names, and checks all of them.
    ///
    /// # Errors
    /// [`ParameterError`] for a name that there is not, and for a number that cannot be.
    fn set(&mut self, values: &BTreeMap<String, u64>) -> Result<(), ParameterError> {
        let mut all = self.named();
        for (name, value) in values {
            match all.iter_mut().find(|each| each.name == *name) {
                Some(found) => found.set(*value)?,
                None => {
                    let names: Vec<_> = all.iter().map(Named::name).collect();
                    let names = names.join(", ");
                    return Err(ParameterError::new(format!(
                        "no parameter {name}; there are {names}"
                    )));
                }
            }
        }
        drop(all);
        self.check()
    }
}

macro_rules! places {
    ($($variant:ident $type:ty;)*) => {$(
        impl<'a> From<&'a mut $type> for Place<'a> {
            fn from(place: &'a mut $type) -> Place<'a> {
                Place::$variant(place)
            }
        }
    )*};
}

places! {
    Byte u8;
    Word u32;
    Long u64;
    Size usize;
    Flag bool;
    Clock Clock;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HierarchyParameters;

    fn set(name: &str, value: u64) -> Result<HierarchyParameters, String> {
        let mut parameters = HierarchyParameters::server();
        let done = parameters.set(&BTreeMap::from([(name.to_string(), value)]));
        done.map(|()| parameters).map_err(|error| error.to_string())
    }

    #[test]
    fn a_number_is_set_by_its_name() {
        assert_eq!(set("l2-latency", 20).unwrap().l2.latency.0, 20);
        assert_eq!(set("dram-channels", 4).unwrap().dram.channels, 4);
        assert_eq!(HierarchyParameters::server().named()[0].value(), 1 << 20);
    }

    #[test]
    fn what_cannot_be_is_refused_with_its_name_and_what_it_may_be() {
        let refused = |name, value| set(name, value).unwrap_err();
        assert_eq!(refused("l2-latency", 0), "l2-latency is 1 to 10000, not 0");
        assert!(refused("l2-banks", 3).contains("3 banks is not a power of two"));
        assert!(refused("llc-bytes", 1 << 16).contains("smaller than the l2"));
        assert!(refused("l3-bytes", 1).starts_with("no parameter l3-bytes; there are l2-bytes, "));
    }

    #[test]
    fn all_names_are_different() {
        let mut parameters = HierarchyParameters::server();
        let mut names: Vec<_> = parameters
            .named()
            .iter()
            .map(|each| each.name().to_string())
            .collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
