use crate::card::{CardFeatures, HostLink, HERTZ};
use crate::carded::{CardedConfig, CardedGuest, LinuxStart};
use crate::ServerError;
use rackwright_cpu::CpuModel;
use rackwright_ethernet::{Mac, Rate};
use rackwright_gateway::user::MTU;
use rackwright_gateway::UserNetwork;
use rackwright_machine::{DecodedPrograms, Extras, Guest};
use rackwright_rtl::Design;
use rackwright_time::Clock;

/// The card's hardware address: locally administered, of one interface.
const MAC: Mac = Mac([0x52, 0x57, 0x0a, 0x00, 0x02, 0x0f]);

/// The parameters of a guest with a user-mode network.
pub struct UserConfig<'a> {
    /// Where it begins.
    pub start: LinuxStart<'a>,
    /// The timing model of its harts.
    pub cpu: CpuModel,
    /// The seed of its random numbers.
    pub seed: u64,
    /// The network interface, elaborated with `virtio=1`.
    pub nic: &'a Design,
}

/// A machine that boots Linux, whose NIC is joined to the host's sockets by `network`. No two runs are the same.
///
/// # Errors
/// [`ServerError`] when it cannot be built, or the software cannot be booted.
pub fn user_guest(
    config: &UserConfig<'_>,
    extras: Extras<'_>,
    network: UserNetwork,
) -> Result<Guest, ServerError> {
    let clock = Clock::new(HERTZ).expect("the clock has a frequency");
    let carded = CardedConfig {
        start: config.start,
        cpu: config.cpu,
        seed: config.seed,
        code: &DecodedPrograms::default(),
        nic: config.nic,
        clock,
        rate: Rate::FULL,
        mac: MAC,
        mtu: MTU as u16,
        features: CardFeatures {
            checksums: false,
            mergeable: false,
            suppression: true,
            frames: 0,
            delay: 0,
        },
        skip_idle: true,
    };
    let (parts, begins) = CardedGuest::new(&carded, extras)?;
    parts.card.join(HostLink::new(network, begins));
    Ok(parts.guest)
}
