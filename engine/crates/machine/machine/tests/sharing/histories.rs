//! Random histories of the shared queues of `rackwright/shared_queue.h`, on harts of every model: each is judged to be
//! linearizable, as of a queue of two places; in long tests also by `validation/histories`, two other judges.

use crate::programs::{afterwards, load, Model, BASE, HARTS_TAKING_PART, MODELS};
use rackwright_memory::GuestMemory;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// As in queue.c.
const PLACES: usize = 2;
const OPERATIONS: usize = 4;
const MOST_HARTS: usize = 8;
const SEED: u64 = HARTS_TAKING_PART + 16;
const ROUNDS: u64 = HARTS_TAKING_PART + 24;
const LOG: u64 = BASE + 0x4_0000;
const WORDS: usize = 8;

/// How many histories memory has room for.
const HISTORIES: usize = 300;

/// The elements of a queue of [`PLACES`] places, the oldest first.
type Elements = Vec<u64>;

/// An operation of queue.c: a push or a pop of up to `asked` values, at least one if there is room or an element, or of
/// exactly as many if it waits; what was done between which ticks of the clock that all harts share.
struct Operation {
    hart: usize,
    is_push: bool,
    waits: bool,
    asked: usize,
    /// Those pushed or popped.
    done: Vec<u64>,
    begin: u64,
    end: u64,
}

impl Operation {
    fn read(memory: &GuestMemory, history: usize, hart: usize, number: usize) -> Operation {
        let index = (history * MOST_HARTS + hart) * OPERATIONS + number;
        let mut bytes = [0; 8 * WORDS];
        memory
            .read(LOG + (index * bytes.len()) as u64, &mut bytes)
            .unwrap();
        let mut words = [0; WORDS];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks(8)) {
            *word = u64::from_le_bytes(bytes.try_into().unwrap());
        }
        let [push, waits, asked, done, begin, end, values @ ..] = words;
        Operation {
            hart,
            is_push: push != 0,
            waits: waits != 0,
            asked: asked as usize,
            done: values[..done as usize].to_vec(),
            begin,
            end,
        }
    }

    /// As `validation/histories` reads it.
    fn line(&self) -> String {
        let kind = if self.is_push { "push" } else { "pop" };
        let manner = if self.waits { "waits" } else { "tries" };
        let (asked, begin, end) = (self.asked, self.begin, self.end);
        let mut line = format!("{} {begin} {end} {kind} {manner} {PLACES} {asked}", self.hart);
        for value in &self.done {
            write!(line, " {value}").unwrap();
        }
        line
    }

    /// What a queue with these elements has after the operation; `None` if it would have done something else.
    fn after(&self, elements: &Elements) -> Option<Elements> {
        let most = if self.is_push {
            PLACES - elements.len()
        } else {
            elements.len()
        };
        let count = self.done.len();
        let least = if self.waits { self.asked } else { most.min(1) };
        if !(least..=most.min(self.asked)).contains(&count) {
            return None;
        }
        if self.is_push {
            return Some([elements.as_slice(), self.done.as_slice()].concat());
        }
        (self.done == elements[..count]).then(|| elements[count..].to_vec())
    }
}

/// Whether there is an order of all operations of a history, each at a moment between its ticks, that a queue can have
/// (Wing and Gong 1993, with the memory of Lowe 2017): an operation may be the next one if none that is left has ended
/// before it began.
fn is_linearizable(history: &[Operation]) -> bool {
    let all = (1u64 << history.len()) - 1;
    let mut seen = HashSet::from([(0, Elements::new())]);
    let mut open = vec![(0, Elements::new())];
    while let Some((done, elements)) = open.pop() {
        if done == all {
            return true;
        }
        let left = |index: &usize| done >> index & 1 == 0;
        let first_end = (0..history.len())
            .filter(left)
            .map(|index| history[index].end)
            .min();
        for index in (0..history.len()).filter(left) {
            if Some(history[index].begin) > first_end {
                continue;
            }
            if let Some(after) = history[index].after(&elements) {
                let next = (done | 1 << index, after);
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
    }
    false
}

/// Compiles queue.c as `validation/coherence/kernels/build` does; returns its image.
fn compile(name: &str, options: &[&str]) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../..");
    let kernels = root.join("validation/coherence/kernels");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (elf, image) = (
        folder.join(name).with_extension("elf"),
        folder.join(name).with_extension("bin"),
    );
    let mut compiler = Command::new("riscv64-linux-gnu-gcc");
    compiler.args(["-march=rv64gc", "-mabi=lp64d", "-mcmodel=medany", "-O2"]);
    compiler.args([
        "-fno-tree-loop-distribute-patterns",
        "-static",
        "-nostdlib",
        "-nostartfiles",
        "-s",
    ]);
    compiler.args([
        "-Wl,--build-id=none",
        "-Wl,--no-warn-rwx-segments",
        "-Wall",
        "-Wextra",
        "-Werror",
    ]);
    compiler
        .arg("-T")
        .arg(kernels.join("link.ld"))
        .arg("-I")
        .arg(&kernels);
    compiler
        .arg("-I")
        .arg(root.join("software/include"))
        .args(options);
    let sources = ["start.S", "main.c"].map(|file| kernels.join(file));
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sharing/queue.c");
    succeeds(compiler.args(sources).arg(own).arg("-o").arg(&elf));
    succeeds(
        Command::new("riscv64-linux-gnu-objcopy")
            .args(["-O", "binary"])
            .arg(&elf)
            .arg(&image),
    );
    image
}

fn succeeds(command: &mut Command) {
    let output = command.output().expect("a compiler for RISC-V");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The histories of a run.
fn histories(image: &Path, model: Model, harts: usize, seed: u64, count: usize) -> Vec<Vec<Operation>> {
    let mut memory = load(image, harts);
    memory.write(SEED, &seed.to_le_bytes()).unwrap();
    memory.write(ROUNDS, &(count as u64).to_le_bytes()).unwrap();
    afterwards(memory, model, harts, |memory| {
        let of_hart = |history: usize, hart: usize| {
            (0..OPERATIONS).map(move |number| Operation::read(memory, history, hart, number))
        };
        let of_all = |history| (0..harts).flat_map(|hart| of_hart(history, hart)).collect();
        (0..count).map(of_all).collect()
    })
}

/// The histories of runs with these seeds, each on harts of each model.
fn all_histories(
    image: &Path,
    seeds: impl Iterator<Item = u64>,
    numbers_of_harts: &[usize],
    count: usize,
) -> Vec<Vec<Operation>> {
    let mut all = Vec::new();
    for seed in seeds {
        for model in MODELS {
            for harts in numbers_of_harts {
                all.extend(histories(image, model, *harts, seed, count));
            }
        }
    }
    all
}

/// How many histories are not linearizable.
fn wrong(histories: &[Vec<Operation>]) -> usize {
    histories
        .iter()
        .filter(|history| !is_linearizable(history))
        .count()
}

/// The judges that share no code with this one: by the crate stateright, and by the Go module porcupine.
fn judges() -> [Command; 2] {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../validation/histories");
    let mut stateright = Command::new(env!("CARGO"));
    stateright
        .args(["run", "--quiet", "--release", "--locked", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("histories"))
        .args(["--", "queue"]);
    let mut porcupine = Command::new("go");
    porcupine
        .args(["run", ".", "queue"])
        .current_dir(folder.join("porcupine"));
    [stateright, porcupine]
}

/// Each of the other judges finds so many of the histories not linearizable.
fn assert_judged(histories: &[Vec<Operation>], wrong: usize) {
    for mut judge in judges() {
        let mut judge = judge
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("cargo and go");
        let mut input = judge.stdin.take().expect("a pipe");
        for history in histories {
            let lines: Vec<String> = history.iter().map(Operation::line).collect();
            writeln!(input, "{}\n", lines.join("\n")).expect("the judge reads");
        }
        drop(input);
        let output = judge.wait_with_output().expect("the judge ends");
        assert!(output.status.success());
        let said = format!("{} histories, {wrong} not linearizable\n", histories.len());
        assert_eq!(String::from_utf8(output.stdout).expect("text"), said);
    }
}

#[test]
fn histories_of_shared_queues_are_linearizable() {
    let found = all_histories(&compile("queue", &[]), 1..2, &[2, 3, 4], 220);
    assert_eq!(wrong(&found), 0);
}

/// In four parts, of 25,200 histories each.
fn assert_many_are_linearizable(part: u64) {
    let harts = [2, 3, 4, 5, 6, 7, 8];
    let image = compile(&format!("queue-many-{part}"), &[]);
    let found = all_histories(&image, 2 + 4 * part..6 + 4 * part, &harts, HISTORIES);
    assert_eq!(found.len(), 25_200);
    assert_eq!(wrong(&found), 0);
    assert_judged(&found, 0);
}

#[test]
#[ignore = "minutes: 100,000 histories in four parts, and judges to compile"]
fn many_histories_first_part() {
    assert_many_are_linearizable(0);
}

#[test]
#[ignore = "as the first part"]
fn many_histories_second_part() {
    assert_many_are_linearizable(1);
}

#[test]
#[ignore = "as the first part"]
fn many_histories_third_part() {
    assert_many_are_linearizable(2);
}

#[test]
#[ignore = "as the first part"]
fn many_histories_fourth_part() {
    assert_many_are_linearizable(3);
}

/// Where a queue is called empty while an element is being written, a tester that can tell says so.
#[test]
fn a_queue_that_is_called_empty_too_early_is_noticed() {
    let found = all_histories(&compile("queue-seeded", &["-DSEEDED"]), 1..2, &[2, 3, 4], 100);
    assert!(wrong(&found) > 0);
}

#[test]
#[ignore = "judges to compile"]
fn all_judges_of_histories_notice_as_much() {
    let found = all_histories(&compile("queue-judged", &["-DSEEDED"]), 1..2, &[2, 3, 4], 100);
    let wrong = wrong(&found);
    assert!(wrong > 0);
    assert_judged(&found, wrong);
}
