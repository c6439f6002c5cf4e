use serde::{Deserialize, Serialize};

macro_rules! number {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u16);
    };
}

number! {
    /// A replicated service, by the same number everywhere.
    ServiceId
}
number! {
    /// A replica, by a number that no other replica of the same dispatcher has.
    ReplicaId
}
number! {
    /// A dispatcher: a top-of-rack switch, by the same number everywhere.
    PeerId
}

/// The identity of a request. A request that is sent again has the key of the first time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RequestKey {
    /// The client: an address and a port, as a number that the caller computes.
    pub client: u64,
    /// Which of its requests.
    pub number: u64,
}

/// A request that is held back until a replica has room; the caller keeps it under this number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ticket(pub u64);
