use rackwright_cpu::{BoomBlock, RocketBlock, SharedCode};
use std::sync::Arc;

/// The decoded programs of many servers, each once for every core model.
#[derive(Default)]
pub struct Code {
    pub(crate) functional: Arc<SharedCode<()>>,
    pub(crate) rocket: Arc<SharedCode<RocketBlock>>,
    pub(crate) boom: Arc<SharedCode<BoomBlock>>,
}
