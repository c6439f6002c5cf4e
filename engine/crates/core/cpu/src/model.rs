use crate::timing::{Accounts, Boom, Functional, Rocket, Timing};
use std::str::FromStr;
use thiserror::Error;

/// The timing model of harts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CpuModel {
    /// One cycle for each instruction.
    Functional,
    /// In-order, validated against the Rocket RTL.
    Rocket,
    /// Out-of-order, of the class of Arm's Cortex-A72.
    Boom,
}

impl CpuModel {
    /// All models.
    pub const ALL: [CpuModel; 3] = [CpuModel::Functional, CpuModel::Rocket, CpuModel::Boom];

    /// The accounts that it provides to observers.
    pub fn accounts(self) -> Accounts {
        match self {
            CpuModel::Functional => Functional::ACCOUNTS,
            CpuModel::Rocket => Rocket::<true>::ACCOUNTS,
            CpuModel::Boom => Boom::<true>::ACCOUNTS,
        }
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            CpuModel::Functional => "functional",
            CpuModel::Rocket => "rocket",
            CpuModel::Boom => "boom",
        }
    }
}

impl FromStr for CpuModel {
    type Err = UnknownCpu;

    fn from_str(name: &str) -> Result<CpuModel, UnknownCpu> {
        let found = CpuModel::ALL.into_iter().find(|model| model.name() == name);
        found.ok_or_else(|| UnknownCpu {
            name: name.to_string(),
        })
    }
}

/// There is no such model.
#[derive(Debug, Error)]
#[error("no core model {name}; there are {}", CpuModel::ALL.map(CpuModel::name).join(", "))]
pub struct UnknownCpu {
    name: String,
}
