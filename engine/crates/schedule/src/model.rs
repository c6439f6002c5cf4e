use rackwright_link::Window;
use rackwright_stats::Digest;
use rackwright_time::Cycle;

/// Anything with ports: a server, a switch, a traffic source, a disk.
pub trait Model: Send {
    /// How many ports it has.
    fn ports(&self) -> usize;

    /// When it next has something to do if nothing arrives; [`Cycle::NEVER`] when it only reacts.
    fn next_event(&self) -> Cycle;

    /// Advances to `until`.
    ///
    /// `inputs[p]` holds what arrives at port p before `until`; what it puts out goes into
    /// `outputs[p]`, stamped with the cycle in which it leaves. Both cover the cycles from where it
    /// stands up to `until`.
    fn advance(&mut self, until: Cycle, inputs: &[Window], outputs: &mut [Window]);

    /// Whether it has ended for good. A graph in which every model has ended is done.
    fn finished(&self) -> bool;

    /// Adds what happened inside so far: commit counts, device events.
    fn digest(&self, digest: &mut Digest);
}
