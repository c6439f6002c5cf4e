use serde::{Deserialize, Serialize};

/// The classes of packets that flow control distinguishes (2.6.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Class {
    /// Requests without a completion: memory writes and messages.
    Posted,
    /// Requests with one.
    NonPosted,
    /// Completions.
    Completion,
}

impl Class {
    /// In the order in which packets of the data link layer number them.
    pub const ALL: [Class; 3] = [Class::Posted, Class::NonPosted, Class::Completion];

    /// Its number.
    #[inline]
    pub fn index(self) -> usize {
        self as usize
    }

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        ["posted", "non_posted", "completion"][self.index()]
    }
}
