//! Programs of several harts that share memory (`validation/coherence`): what they compute is right on harts of every model,
//! and is done in the same cycles however the run is cut. `--nocapture` prints the cycles.

mod histories;
mod programs;
mod rtl;

use programs::{run, whole, Model, MODELS};
use rackwright_time::Cycles;

/// That a kernel reports what `expected` says of so many harts, on all models with two to eight of them.
fn computes(kernel: &str, expected: impl Fn(u64) -> Vec<u64>) {
    for model in MODELS {
        for harts in [2, 3, 4, 8] {
            let outcome = whole(kernel, model, harts);
            assert_eq!(
                outcome.values(),
                expected(harts as u64),
                "{kernel}, {harts} of {model:?}"
            );
        }
    }
}

fn each(harts: u64, value: u64) -> Vec<u64> {
    vec![value; harts as usize]
}

#[test]
fn locks_let_one_in_at_a_time() {
    computes("lock", |harts| each(harts, 2 * 100 * harts));
    computes("ticket-lock", |harts| each(harts, 2 * 100 * harts));
}

/// Also on functional harts, whose windows are a hundred ticks long.
#[test]
fn time_never_runs_backwards_from_hart_to_hart() {
    computes("clock", |harts| each(harts, 0));
}

#[test]
fn nobody_passes_a_barrier_before_all_have_come() {
    computes("barrier", |harts| each(harts, 0));
}

#[test]
fn a_stack_without_a_lock_loses_and_doubles_nothing() {
    computes("stack", |harts| each(harts, 0));
}

/// All 50 fail where somebody has come between; the one where nobody does is repeated at most for the end of a turn.
#[test]
fn a_reservation_is_lost_when_a_value_comes_back() {
    for model in MODELS {
        for harts in [2, 5] {
            let values = whole("reservation", model, harts).values();
            assert!((5001..=5002).contains(&values[0]), "{model:?}: {values:?}");
        }
    }
}

#[test]
fn what_is_sent_arrives() {
    computes("producer-consumer", |harts| {
        let sum = 3 * (500..1000).sum::<u64>();
        (0..harts).map(|hart| if hart < 2 { sum } else { 0 }).collect()
    });
    computes("ping-pong", |harts| {
        (0..harts).map(|hart| u64::from(hart < 2)).collect()
    });
}

#[test]
fn counters_of_one_line_are_counted_apart() {
    for kernel in ["false-sharing", "private-lines"] {
        computes(kernel, |harts| each(harts, 1000));
    }
}

#[test]
fn runs_are_the_same_however_they_are_cut() {
    for model in MODELS {
        let once = whole("stack", model, 4);
        assert_eq!(whole("stack", model, 4), once, "{model:?}");
        assert_eq!(run("stack", model, 4, Cycles::new(777)), once, "{model:?}");
    }
}

/// What lines that move between caches cost shows in the cycles.
#[test]
fn sharing_costs_time() {
    let kernels = [
        "private-lines",
        "false-sharing",
        "ping-pong",
        "producer-consumer",
        "lock",
        "ticket-lock",
        "barrier",
        "stack",
    ];
    for model in [Model::Rocket, Model::Boom] {
        for kernel in kernels {
            let cycles = [2, 4, 8].map(|harts| whole(kernel, model, harts).cycles());
            println!("{model:?} {kernel:18} {cycles:?}");
        }
        let cycles = |kernel, harts| whole(kernel, model, harts).cycles();
        let alone = cycles("private-lines", 4);
        let difference = alone.abs_diff(cycles("private-lines", 2));
        assert!(
            difference < 10,
            "{model:?}: lines of one's own cost {difference} more"
        );
        assert!(cycles("false-sharing", 2) > 2 * alone, "{model:?}");
        assert!(
            cycles("false-sharing", 4) > cycles("false-sharing", 2),
            "{model:?}"
        );
        assert!(cycles("lock", 4) > cycles("lock", 2), "{model:?}");
        // A ball crosses from L1 to L1 twice for each of two turns of 200: to be looked at, and to be taken.
        let round = cycles("ping-pong", 2) / 200;
        assert!((100..400).contains(&round), "{model:?}: {round}");
    }
}
