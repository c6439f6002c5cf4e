//! The `boom` model on the programs of `validation/rocket`: what an out-of-order core of three instructions per cycle must show.

mod support;

use rackwright_server::CpuModel;
use support::{program, run_on_model, Measurement};

fn boom(name: &str) -> Measurement {
    run_on_model(CpuModel::Boom, &program(name))
}

fn per_cycle(name: &str) -> f64 {
    let run = boom(name);
    run.instructions as f64 / run.cycles as f64
}

#[test]
fn a_chain_of_loads_takes_the_latency_of_the_cache() {
    let cycles = boom("load-l1").cycles as f64 / 16384.0;
    assert!((4.0..4.1).contains(&cycles), "{cycles} cycles for each load");
}

#[test]
fn a_chain_of_operations_goes_one_per_cycle() {
    let rate = per_cycle("integer");
    assert!((1.0..2.0).contains(&rate), "{rate} instructions per cycle");
}

#[test]
fn regular_code_comes_near_the_width_and_never_beyond() {
    for name in ["branch-regular", "calls", "matrix", "copy-l1"] {
        let rate = per_cycle(name);
        assert!(
            (1.5..=3.0).contains(&rate),
            "{name}: {rate} instructions per cycle"
        );
    }
}

#[test]
fn branches_that_nobody_can_guess_cost_a_redirect_each() {
    let run = boom("branch-random");
    let wrong = 4096.0 / 2.0;
    let per_branch = (run.cycles as f64 - run.instructions as f64 / 3.0) / wrong;
    assert!(
        (8.0..16.0).contains(&per_branch),
        "{per_branch} cycles for each wrong guess"
    );
}

#[test]
fn independent_misses_overlap() {
    let rocket = run_on_model(CpuModel::Rocket, &program("stream-read"));
    let boom = boom("stream-read");
    assert_eq!(
        (boom.instructions, boom.result),
        (rocket.instructions, rocket.result)
    );
    assert!(boom.cycles * 3 < rocket.cycles, "{boom:?}, {rocket:?}");
}
