use rackwright_state::state;

/// The interrupt lines of a hart.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Lines {
    pub(super) external: bool,
    pub(super) software: bool,
    pub(super) timer: bool,
}

state!(Lines {
    external,
    software,
    timer
});
