use crate::names::Function;
use rustc_hash::FxHashMap;

/// A node of a [`Tree`].
pub(crate) type NodeId = u32;

/// A function with its chain of callers, on one hart.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) parent: NodeId,
    pub(crate) function: Function,
    /// Spent in the function itself.
    pub(crate) cycles: u64,
    pub(crate) instructions: u64,
    pub(crate) calls: u64,
    /// Number of nodes above it.
    depth: u32,
    /// The child that was found last, which mostly is the next one too.
    recent: (Function, NodeId),
}

/// Number of levels from the root on in which stacks are recorded frame by frame.
pub(crate) const WHOLE: u32 = 512;

/// Call stacks as a tree. The root, number 0, represents the hart.
///
/// A recursion may be as deep as its stack is large, and files name all frames of every stack. Therefore, further than
/// [`WHOLE`] nodes down, a function that is on the stack there already is the same node again: a recursion is folded,
/// whether a function calls itself or through others.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
    /// Whether some recursion is folded.
    folded: bool,
    children: FxHashMap<(NodeId, Function), NodeId>,
}

const NOBODY: Function = Function(u32::MAX);

/// One that has its root only.
impl Default for Tree {
    fn default() -> Tree {
        let mut tree = Tree {
            nodes: Vec::new(),
            folded: false,
            children: FxHashMap::default(),
        };
        tree.add(Tree::ROOT, NOBODY, 0);
        tree
    }
}

impl Tree {
    pub(crate) const ROOT: NodeId = 0;

    /// Whether some recursion is folded.
    pub(crate) fn is_folded(&self) -> bool {
        self.folded
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
                let node = self.find_or_add(parent, function);
                self.children.insert((parent, function), node);
                node
            }
        };
        self.nodes[parent as usize].recent = (function, found);
        found
    }

    #[inline]
    pub(crate) fn node(&mut self, node: NodeId) -> &mut Node {
        &mut self.nodes[node as usize]
    }

    /// The node of a `function` that has not been called from `parent` before.
    fn find_or_add(&mut self, parent: NodeId, function: Function) -> NodeId {
        let mut above = parent;
        while self.nodes[above as usize].depth > WHOLE {
            let node = &self.nodes[above as usize];
            if node.function == function {
                self.folded = true;
                return above;
            }
            above = node.parent;
        }
        let depth = self.nodes[parent as usize].depth + 1;
        self.add(parent, function, depth)
    }

    fn add(&mut self, parent: NodeId, function: Function, depth: u32) -> NodeId {
        self.nodes.push(Node {
            parent,
            function,
            cycles: 0,
            instructions: 0,
            calls: 0,
            depth,
            recent: (NOBODY, 0),
        });
        (self.nodes.len() - 1) as NodeId
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The node at which these functions, each called by the previous one, end, and their number.
    fn deepest(functions: impl Iterator<Item = u32>) -> (NodeId, Tree) {
        let mut tree = Tree::default();
        let node = functions.fold(Tree::ROOT, |node, function| tree.child(node, Function(function)));
        (node, tree)
    }

    #[test]
    fn a_recursion_is_folded_where_stacks_are_deep() {
        let whole = WHOLE as usize;
        for apart in [1, 2, 7] {
            let (node, mut tree) = deepest((0..100_000).map(|call| call % apart));
            assert_eq!(tree.nodes.len(), 1 + whole + apart as usize);
            assert!(tree.is_folded());
            let work = tree.child(node, Function(99));
            assert_eq!(
                tree.nodes[work as usize].parent, node,
                "what recursion calls hangs from it"
            );
        }
    }

    #[test]
    fn other_stacks_are_kept_as_they_are() {
        let (_, tree) = deepest((0..WHOLE).map(|_| 0));
        assert_eq!((tree.nodes.len(), tree.is_folded()), (1 + WHOLE as usize, false));
        let (_, tree) = deepest(0..3 * WHOLE);
        assert_eq!(
            (tree.nodes.len(), tree.is_folded()),
            (1 + 3 * WHOLE as usize, false)
        );
    }
}
