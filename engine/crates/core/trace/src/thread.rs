/// The identity of a thread of the software.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Thread {
    pub(crate) process: String,
    pub(crate) process_number: u64,
    pub(crate) name: String,
    pub(crate) number: u64,
}
