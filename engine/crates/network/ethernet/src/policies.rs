use crate::{Forwarding, LeastQueued, Policy};

/// Makes a policy from the tables of a switch.
pub type MakePolicy = fn(Forwarding) -> Box<dyn Policy>;

/// The policies that a description can name, the default first. Add a line here for a new policy.
pub const POLICIES: &[(&str, MakePolicy)] = &[
    ("flow-hash", |forwarding| Box::new(forwarding)),
    ("least-queued", |forwarding| {
        Box::new(LeastQueued::new(forwarding))
    }),
];
