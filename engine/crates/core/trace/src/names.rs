use crate::debug::Source;
use crate::symbols::Symbols;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A function among all that a run has come by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Function(pub u32);

/// A range of addresses.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Extent {
    /// The first one.
    pub(crate) low: u64,
    /// Bytes.
    pub(crate) span: u64,
}

impl Extent {
    #[inline(always)]
    pub(crate) fn holds(self, address: u64) -> bool {
        address.wrapping_sub(self.low) < self.span
    }

    /// As far above as `shift` says, without what is not in `limits`.
    fn moved(self, shift: u64, limits: (u64, u64)) -> Extent {
        let low = self.low.wrapping_add(shift);
        let high = low.saturating_add(self.span).min(limits.1);
        let low = low.max(limits.0);
        Extent {
            low,
            span: high.saturating_sub(low),
        }
    }
}

/// Functions that the compiler has put into a function, each into the one before.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Chain(u32);

impl Chain {
    /// No function is inlined.
    pub(crate) const NONE: Chain = Chain(0);
}

/// The chains that were met. Whoever has a copy sees those of all.
#[derive(Clone, Default, Debug)]
pub(crate) struct Chains(Arc<Mutex<Vec<Arc<[Function]>>>>);

impl Chains {
    fn number(&self, functions: Vec<Function>) -> Chain {
        if functions.is_empty() {
            return Chain::NONE;
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.iter().position(|each| **each == *functions);
        let place = found.unwrap_or_else(|| {
            known.push(functions.into());
            known.len() - 1
        });
        Chain(place as u32 + 1)
    }

    /// The functions of a chain, outermost first.
    pub(crate) fn functions(&self, chain: Chain) -> Arc<[Function]> {
        match chain.0.checked_sub(1) {
            Some(place) => self.0.lock().unwrap_or_else(PoisonError::into_inner)[place as usize].clone(),
            None => Arc::default(),
        }
    }
}

/// Where an address lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) function: Function,
    /// The code around it that belongs to the function.
    pub(crate) code: Extent,
    /// Whether the address is where the function is entered.
    pub(crate) entry: bool,
    /// What is inlined there, and the code around it that has the same.
    pub(crate) inlined: Chain,
    pub(crate) near: Extent,
}

impl Place {
    /// A place in code in which nothing is inlined.
    pub(crate) fn plain(function: Function, low: u64, span: u64) -> Place {
        let code = Extent { low, span };
        Place {
            function,
            code,
            entry: false,
            inlined: Chain::NONE,
            near: code,
        }
    }

    /// Where the same code is when it lies as far above as `shift` says, and only the addresses within `limits` are it.
    pub(crate) fn moved(self, shift: u64, limits: (u64, u64)) -> Place {
        Place {
            code: self.code.moved(shift, limits),
            near: self.near.moved(shift, limits),
            ..self
        }
    }
}

/// The functions that were met, by module and name.
#[derive(Default, Debug)]
pub struct Names {
    known: Vec<(String, String)>,
    numbers: HashMap<(String, String), Function>,
    sources: HashMap<Function, Source>,
    chains: Chains,
}

/// What code is called that has no symbol.
pub(crate) const UNKNOWN: &str = "[unknown]";

impl Names {
    /// Where `address` lies, which is in no file: in code that a program has made itself.
    pub(crate) fn made_at_run_time(&mut self, address: u64) -> Place {
        const PAGE: u64 = 4096;
        let function = self.number("run-time", "[made at run time]");
        Place::plain(function, address & !(PAGE - 1), PAGE)
    }

    /// Where an address lies that is in the `span` bytes from `low` on, which a kernel gives programs.
    pub(crate) fn of_kernel(&mut self, low: u64, span: u64) -> Place {
        Place::plain(self.number("vdso", "[vdso]"), low, span)
    }

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

    /// Where the source has a function, if debug information says so.
    pub fn source(&self, function: Function) -> Option<&Source> {
        self.sources.get(&function)
    }

    /// The chains of inlined functions that places have.
    pub(crate) fn chains(&self) -> Chains {
        self.chains.clone()
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
                let function = self.number(module, name);
                if let Some(source) = symbols.debug.sources.get(&symbol.start) {
                    self.sources.entry(function).or_insert_with(|| source.clone());
                }
                let (low, high, inlined) = symbols.debug.around(address);
                let (low, high) = (low.max(symbol.start), high.min(symbol.end));
                let span = high - low;
                Place {
                    entry: address == symbol.start && name == symbol.name,
                    inlined: self.chain(module, symbols, inlined),
                    near: Extent { low, span },
                    ..Place::plain(function, symbol.start, symbol.end - symbol.start)
                }
            }
            Err((low, high)) => Place::plain(self.number(module, UNKNOWN), low, high - low),
        }
    }

    fn chain(&mut self, module: &str, symbols: &Symbols, inlined: &[usize]) -> Chain {
        let mut functions = Vec::with_capacity(inlined.len());
        for index in inlined {
            let (name, source) = &symbols.debug.functions[*index];
            let function = self.number(module, name);
            if let Some(source) = source {
                self.sources.entry(function).or_insert_with(|| source.clone());
            }
            functions.push(function);
        }
        self.chains.number(functions)
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
