//! The `boom` model against LargeBOOM in RTL, on the programs of `validation/rocket` and `validation/boom`.
//!
//! What the RTL took is in `validation/boom/reference.csv`. A difference that is known has its place in `DEVIATIONS.md`
//! there, with the band that the error lies in; the test fails when it leaves the band, to either side.

use crate::support::{folder, program, run_on_model};
use rackwright_server::CpuModel;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The bar for the mean of the absolute errors of the kernels that stay in L1, for each of these, and for everything that
/// `DEVIATIONS.md` does not name, in percent.
const MEAN_ERROR: f64 = 2.5;
const LARGEST_ERROR: f64 = 9.0;
const UNNAMED_ERROR: f64 = 3.0;

/// A line of the reference.
struct Reference {
    name: String,
    /// Kernels of `validation/rocket`: `core` when they stay in L1, else `memory`. Those of `validation/boom`: `micro`.
    class: String,
    cycles: u64,
    instructions: u64,
}

impl Reference {
    fn parse(line: &str) -> Reference {
        let [name, class, cycles, instructions] = line.split(',').collect::<Vec<_>>()[..] else {
            panic!("four fields, not {line:?}");
        };
        Reference {
            name: name.to_owned(),
            class: class.to_owned(),
            cycles: cycles.parse().expect("cycles"),
            instructions: instructions.parse().expect("instructions"),
        }
    }

    /// By how much the model is off, in percent.
    fn error(&self) -> f64 {
        let set = if self.class == "micro" { "boom" } else { "rocket" };
        let model = run_on_model(CpuModel::Boom, &program(set, &self.name));
        assert_eq!(model.instructions, self.instructions, "{}", self.name);
        (model.cycles as f64 / self.cycles as f64 - 1.0) * 100.0
    }
}

fn read(name: &str) -> String {
    let path = folder("boom").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn reference() -> Vec<Reference> {
    read("reference.csv")
        .lines()
        .skip(1)
        .map(Reference::parse)
        .collect()
}

/// The bands of `DEVIATIONS.md`: the rows of its tables that name kernels and have two numbers in percent.
fn deviations() -> BTreeMap<String, (f64, f64)> {
    let mut bands = BTreeMap::new();
    for row in read("DEVIATIONS.md")
        .lines()
        .filter(|line| line.starts_with("| `"))
    {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let percent = |cell: &str| {
            cell.parse()
                .unwrap_or_else(|_| panic!("a number of percent, not {cell:?}"))
        };
        for name in cells[0].split(',') {
            let name = name.trim().trim_matches('`').to_owned();
            let before = bands.insert(name, (percent(cells[1]), percent(cells[2])));
            assert!(before.is_none(), "named twice: {row}");
        }
    }
    bands
}

#[test]
fn cycles_of_the_model_are_those_of_the_rtl() {
    let mut bands = deviations();
    let mut table = String::new();
    let mut outside = Vec::new();
    let mut core = Vec::new();
    for row in reference() {
        let error = row.error();
        writeln!(
            table,
            "{:24}{:8}{:>8}{error:>+8.2} %",
            row.name, row.class, row.cycles
        )
        .unwrap();
        let (least, most) = bands.remove(&row.name).unwrap_or((-UNNAMED_ERROR, UNNAMED_ERROR));
        if !(least..=most).contains(&error) {
            outside.push(format!(
                "{}: {error:+.2} % is not within {least} to {most}",
                row.name
            ));
        }
        if row.class == "core" {
            core.push(error.abs());
        }
    }
    let mean = core.iter().sum::<f64>() / core.len() as f64;
    let largest = core.iter().copied().fold(0.0, f64::max);
    println!("{table}core: mean {mean:.2} %, largest {largest:.2} %");
    assert_eq!(core.len(), 22);
    assert!(
        bands.is_empty(),
        "DEVIATIONS.md names what there is not: {bands:?}"
    );
    assert!(outside.is_empty(), "{}", outside.join("\n"));
    assert!(
        mean <= MEAN_ERROR && largest <= LARGEST_ERROR,
        "mean {mean:.2} %, largest {largest:.2} %"
    );
}

#[test]
fn independent_misses_overlap() {
    let file = program("rocket", "stream-read");
    let [rocket, boom] = [CpuModel::Rocket, CpuModel::Boom].map(|cpu| run_on_model(cpu, &file));
    assert_eq!(
        (boom.instructions, boom.result),
        (rocket.instructions, rocket.result)
    );
    assert!(boom.cycles * 3 < rocket.cycles, "{boom:?}, {rocket:?}");
}
