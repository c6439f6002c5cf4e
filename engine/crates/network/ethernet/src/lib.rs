//! An Ethernet at the level of frames, exact to the cycle: frames, store-and-forward switches with
//! bounded buffers, forwarding tables, policies, and captures.
//!
//! A frame occupies a port of 64-bit flits for one cycle per flit, or longer on a slower link; preamble, frame check
//! sequence and gap are not modelled, as in the switch model of Karandikar 2024, section 2.3. Results do not depend on
//! the windows of simulated time: a port determines the departure of a frame when the frame is offered to it.

mod address;
mod capture;
mod counters;
mod datagram;
mod dispatching;
mod faults;
mod forwarding;
mod frame;
mod least_queued;
mod output;
mod policies;
mod policy;
mod portable;
mod rate;
mod raw;
mod switch;
mod table;
mod told;

pub use address::{Ipv4, Mac, MacError};
pub use capture::{Capture, CaptureError};
pub use counters::{PortCounters, Refusals};
pub use datagram::{
    Datagram, Ecn, Endpoint, Foreign, Kind, Message, HEADER_BYTES, LARGEST_PAYLOAD, MESSAGE_BYTES,
};
pub use dispatching::{Dispatching, Place, Rack};
pub use faults::{Faults, Outage};
pub use forwarding::Forwarding;
pub use frame::{Frame, FrameError, ETHERNET_HEADER, LARGEST_FRAME};
pub use least_queued::LeastQueued;
pub use output::{OutputPort, PortParameters};
pub use policies::{MakePolicy, POLICIES};
pub use policy::{Admission, Egress, Policy};
pub use rate::{Rate, RateError};
pub use switch::{Switch, SwitchParameters};
pub use table::{Route, Table};
pub use told::{Told, SIMULATED_KEY};
