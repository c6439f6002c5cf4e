use crate::names::Function;
use rustc_hash::FxHashMap;

/// A node of a [`Tree`].
pub(crate) type NodeId = u32;

/// A function as it was called from those above it, on one hart.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) parent: NodeId,
    pub(crate) function: Function,
    /// Spent in the function itself.
    pub(crate) cycles: u64,
    pub(crate) instructions: u64,
    pub(crate) calls: u64,
    /// The child that was found last, which mostly is the next one too.
    recent: (Function, NodeId),
}

/// Call stacks as a tree. The root, number 0, stands for the hart.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
    children: FxHashMap<(NodeId, Function), NodeId>,
}

const NOBODY: Function = Function(u32::MAX);

impl Tree {
    pub(crate) const ROOT: NodeId = 0;

    pub(crate) fn new() -> Tree {
        let mut tree = Tree {
            nodes: Vec::new(),
            children: FxHashMap::default(),
        };
        tree.add(Tree::ROOT, NOBODY);
        tree
    }

    /// The node of `function` as called from `parent`.
    #[inline]
    pub(crate) fn child(&mut self, parent: NodeId, function: Function) -> NodeId {
        let recent = self.nodes[parent as usize].recent;
        if recent.0 == function {
            return recent.1;
        }
        let found = match self.children.get(&(parent, function)) {
            Some(found) => *found,
            None => {
                let added = self.add(parent, function);
                self.children.insert((parent, function), added);
                added
            }
        };
        self.nodes[parent as usize].recent = (function, found);
        found
    }

    #[inline]
    pub(crate) fn node(&mut self, node: NodeId) -> &mut Node {
        &mut self.nodes[node as usize]
    }

    fn add(&mut self, parent: NodeId, function: Function) -> NodeId {
        self.nodes.push(Node {
            parent,
            function,
            cycles: 0,
            instructions: 0,
            calls: 0,
            recent: (NOBODY, 0),
        });
        (self.nodes.len() - 1) as NodeId
    }
}
