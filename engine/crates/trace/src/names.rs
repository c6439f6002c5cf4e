use crate::symbols::Symbols;
use std::collections::HashMap;

/// A function among all that a run has come by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Function(pub u32);

/// Where an address lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) function: Function,
    /// First address of the code around it that belongs to the function.
    pub(crate) low: u64,
    /// Bytes of that code.
    pub(crate) span: u64,
    /// Whether the address is where the function is entered.
    pub(crate) entry: bool,
}

/// The functions that were met, by module and name.
#[derive(Default, Debug)]
pub struct Names {
    known: Vec<(String, String)>,
    numbers: HashMap<(String, String), Function>,
}

/// What code is called that has no symbol.
pub(crate) const UNKNOWN: &str = "[unknown]";

impl Names {
    /// The function `name` of `module`.
    pub fn number(&mut self, module: &str, name: &str) -> Function {
        let key = (module.to_string(), name.to_string());
        let next = Function(self.known.len() as u32);
        let number = *self.numbers.entry(key.clone()).or_insert(next);
        if number == next {
            self.known.push(key);
        }
        number
    }

    /// Module and name of a function.
    pub fn name(&self, function: Function) -> (&str, &str) {
        let (module, name) = &self.known[function.0 as usize];
        (module, name)
    }

    /// All functions, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.known
            .iter()
            .map(|(module, name)| (module.as_str(), name.as_str()))
    }

    /// Where `address` lies in a module with these symbols.
    pub(crate) fn place(&mut self, module: &str, symbols: &Symbols, address: u64) -> Place {
        match symbols.find(address) {
            Ok(symbol) => {
                let name = whole(&symbol.name);
                Place {
                    function: self.number(module, name),
                    low: symbol.start,
                    span: symbol.end - symbol.start,
                    entry: address == symbol.start && name == symbol.name,
                }
            }
            Err((low, high)) => Place {
                function: self.number(module, UNKNOWN),
                low,
                span: high - low,
                entry: false,
            },
        }
    }
}

/// The function of which the compiler has put a part elsewhere.
fn whole(name: &str) -> &str {
    name.find(".cold").map_or(name, |at| &name[..at])
}

/// Whether a user may call the function `symbol` so: as the linker, or as the source, with or without its parameters.
pub(crate) fn called(symbol: &str, name: &str) -> bool {
    if symbol == name {
        return true;
    }
    if !symbol.starts_with("_Z") && !symbol.starts_with("_R") {
        return false;
    }
    let readable = readable(symbol);
    readable == name || readable.split('(').next() == Some(name)
}

/// A name as the source has it: of C++ and Rust, decoded.
pub(crate) fn readable(name: &str) -> String {
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        return format!("{rust:#}");
    }
    if !name.starts_with("_Z") {
        return name.to_string();
    }
    let symbol = cpp_demangle::Symbol::new(name).ok();
    let options = cpp_demangle::DemangleOptions::default();
    symbol
        .and_then(|symbol| symbol.demangle(&options).ok())
        .unwrap_or_else(|| name.to_string())
}
