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
    /// How many there are.
    pub harts: usize,
    /// The caches behind theirs.
    pub hierarchy: &'a SharedHierarchy,
    /// How they are observed, if they are; they can't tell.
    pub observation: Option<&'a Observation>,
}

/// What is made of harts, whatever their timing model.
pub trait FromHarts {
    /// What comes of it.
    type Made;

    /// With a hart for each of `timings`, which use `code` together.
    fn make<T>(self, timings: Vec<T>, code: Arc<SharedCode<T::Block>>) -> Self::Made
    where
        T: Timing + Send + 'static,
        T::Block: Send + Sync;
}

impl HartChoice<'_> {
    /// Makes something of the harts, which share `code` with others of their kind; not those that are observed: others
    /// have no observer in theirs.
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
