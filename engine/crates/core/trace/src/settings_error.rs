use crate::nearest::nearest;

/// The reason why a run cannot be observed with these settings.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SettingsError {
    /// No object has this name.
    #[error("no {what} is called `{name}`{}", .nearest.as_ref().map_or(String::new(), |near| format!("; the nearest names are {near}")))]
    Unknown {
        /// The kind of object.
        what: String,
        /// The name.
        name: String,
        /// Names that there are.
        nearest: Option<String>,
    },
    /// There is one process, and no kernel that runs it.
    #[error("process:{name} is for machines that boot Linux")]
    Process {
        /// The process.
        name: String,
    },
}

impl SettingsError {
    pub(crate) fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> SettingsError {
        SettingsError::Unknown {
            what: what.to_string(),
            name: name.to_string(),
            nearest: nearest(name, known),
        }
    }
}
