use crate::code::DecodedPrograms;
use rackwright_cpu::{Boom, CpuModel, Functional, Rocket, ServerParameters, SharedCode, Timing};
use rackwright_memory::SharedHierarchy;
use rackwright_trace::{Observation, Probed};
use std::sync::Arc;

/// The harts of a machine, as users choose them: of a timing model that is known only when this runs.
#[derive(Clone, Copy)]
pub struct HartChoice<'a> {
    /// Their timing model.
    pub cpu: CpuModel,
    /// Its numbers.
    pub parameters: &'a ServerParameters,
    /// Number of harts.
    pub harts: usize,
    /// The caches behind those of the harts.
    pub hierarchy: &'a SharedHierarchy,
    /// How they are observed, if they are; observation does not affect them.
    pub observation: Option<&'a Observation>,
}

/// A constructor that uses harts of any timing model.
pub trait FromHarts {
    /// The constructed object.
    type Made;

    /// With a hart for each of `timings`, which use `code` together.
    fn make<T>(self, timings: Vec<T>, code: Arc<SharedCode<T::Block>>) -> Self::Made
    where
        T: Timing + Send + 'static,
        T::Block: Send + Sync;
}

impl HartChoice<'_> {
    /// Constructs an object of the harts, which share `code` with others of their kind, except for observed ones:
    /// others have no observer in their code.
    pub fn make<F: FromHarts>(&self, code: &DecodedPrograms, from: F) -> F::Made {
        let (rocket, boom) = (&self.parameters.rocket, &self.parameters.boom);
        let hierarchy = self.hierarchy;
        let Some(observation) = self.observation else {
            return match self.cpu {
                CpuModel::Functional => from.make(self.each(Functional::default), code.functional.clone()),
                CpuModel::Rocket => {
                    let timings = self.each(|| Rocket::new(rocket.clone(), hierarchy));
                    from.make(timings, code.rocket.clone())
                }
                CpuModel::Boom => {
                    let timings = self.each(|| Boom::new(boom.clone(), hierarchy));
                    from.make(timings, code.boom.clone())
                }
            };
        };
        match self.cpu {
            CpuModel::Functional => {
                from.make(self.observed(observation, Functional::default), Arc::default())
            }
            CpuModel::Rocket => {
                let timings = self.observed(observation, || Rocket::explained(rocket.clone(), hierarchy));
                from.make(timings, Arc::default())
            }
            CpuModel::Boom => {
                let timings = self.observed(observation, || Boom::explained(boom.clone(), hierarchy));
                from.make(timings, Arc::default())
            }
        }
    }

    fn each<T>(&self, timing: impl Fn() -> T) -> Vec<T> {
        (0..self.harts).map(|_| timing()).collect()
    }

    fn observed<T: Timing>(&self, observation: &Observation, timing: impl Fn() -> T) -> Vec<Probed<T>> {
        let probe = |hart| observation.probe(timing(), hart, self.hierarchy);
        (0..self.harts).map(probe).collect()
    }
}
