use rackwright_cpu::{BoomBlock, RocketBlock, SharedCode};
use std::sync::Arc;

/// The decoded programs of many machines, each once for every core model.
#[derive(Clone, Default)]
pub struct DecodedPrograms {
    /// For functional harts.
    pub functional: Arc<SharedCode<()>>,
    /// For Rocket's.
    pub rocket: Arc<SharedCode<RocketBlock>>,
    /// For BOOM's.
    pub boom: Arc<SharedCode<BoomBlock>>,
}
