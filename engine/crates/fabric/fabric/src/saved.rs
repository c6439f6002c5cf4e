//! How instants and spans are saved: as numbers.

/// An instant.
pub(crate) mod instant {
    use rackwright_time::fabric::Cycle;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(at: &Cycle, to: S) -> Result<S::Ok, S::Error> {
        at.0.serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Cycle, D::Error> {
        u64::deserialize(from).map(Cycle::new)
    }
}

/// One of each class, where there is one.
pub(crate) mod instants {
    use rackwright_time::fabric::Cycle;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(all: &[Option<Cycle>; 3], to: S) -> Result<S::Ok, S::Error> {
        all.map(|at| at.map(|at| at.0)).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<[Option<Cycle>; 3], D::Error> {
        let all: [Option<u64>; 3] = Deserialize::deserialize(from)?;
        Ok(all.map(|at| at.map(Cycle::new)))
    }
}

/// A span.
pub(crate) mod span {
    use rackwright_time::fabric::Cycles;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(span: &Cycles, to: S) -> Result<S::Ok, S::Error> {
        span.0.serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Cycles, D::Error> {
        u64::deserialize(from).map(Cycles::new)
    }
}
