/// Named counts in a fixed order, as a report prints them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    entries: Vec<(String, u64)>,
}

impl Counters {
    /// No counts.
    pub fn new() -> Counters {
        Counters::default()
    }

    /// Appends a count under a name that no other count here has.
    ///
    /// # Panics
    /// If the name is in use: two counts of one name could not be distinguished.
    pub fn push(&mut self, name: impl Into<String>, count: u64) {
        let name = name.into();
        assert!(self.get(&name).is_none(), "the counter `{name}` exists already");
        self.entries.push((name, count));
    }

    /// The count with this name.
    pub fn get(&self, name: &str) -> Option<u64> {
        self.entries
            .iter()
            .find(|(entry, _)| entry == name)
            .map(|(_, count)| *count)
    }

    /// All counts, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.entries.iter().map(|(name, count)| (name.as_str(), *count))
    }
}

#[cfg(test)]
mod tests {
    use super::Counters;

    #[test]
    fn counts_keep_their_order() {
        let mut counters = Counters::new();
        counters.push("later", 2);
        counters.push("early", 1);
        assert_eq!(counters.iter().collect::<Vec<_>>(), [("later", 2), ("early", 1)]);
        assert_eq!(counters.get("early"), Some(1));
    }
}
