use crate::names::{Chain, Chains, Function};
use crate::tree::{NodeId, Tree};

/// The node of the innermost function of a chain that is inlined into the one at a node, and that function.
pub(crate) fn within(
    tree: &mut Tree,
    chains: &Chains,
    function: (NodeId, Function),
    chain: Chain,
) -> (NodeId, Function) {
    if chain == Chain::NONE {
        return function;
    }
    let functions = chains.functions(chain);
    let into = |(node, _), inlined: &Function| (tree.child(node, *inlined), *inlined);
    functions.iter().fold(function, into)
}
