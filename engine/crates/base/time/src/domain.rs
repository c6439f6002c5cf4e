use std::fmt::Debug;
use std::hash::Hash;

/// Parts of a simulated system that have one clock.
pub trait Domain: Copy + Ord + Hash + Default + Debug + Send + Sync + 'static {}

macro_rules! domains {
    ($($(#[$text:meta])* $name:ident)*) => {$(
        $(#[$text])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
        pub struct $name;

        impl Domain for $name {}
    )*};
}

domains! {
    /// Harts, caches, memory and devices of a server.
    Hart
    /// Links and the models that they connect.
    Network
    /// One unit in RTL: each has a clock of its own.
    Unit
    /// Links, switches and the root of a PCIe fabric.
    Fabric
}
