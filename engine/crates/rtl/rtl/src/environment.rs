//! Variables of the environment in lists of files: with other values, a design is another one.

use crate::verilator::is_list;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The variables used in the lists among `files` and in nested lists, with their values; a variable that is not set has
/// none.
pub(crate) fn named_in_lists<'a>(
    files: impl IntoIterator<Item = &'a Path>,
) -> BTreeMap<String, Option<String>> {
    let mut named = BTreeMap::new();
    let mut lists: Vec<PathBuf> = files
        .into_iter()
        .filter(|file| is_list(file))
        .map(Path::to_path_buf)
        .collect();
    let mut place = 0;
    while let Some(list) = lists.get(place).cloned() {
        for further in look_into(&list, &mut named) {
            if !lists.contains(&further) {
                lists.push(further);
            }
        }
        place += 1;
    }
    named
}

/// Adds the variables of a list; returns the lists that it names.
fn look_into(list: &Path, named: &mut BTreeMap<String, Option<String>>) -> Vec<PathBuf> {
    // One that cannot be read is complained of by the tools.
    let text = std::fs::read_to_string(list).unwrap_or_default();
    for name in variables(&text) {
        named
            .entry(name.to_string())
            .or_insert_with(|| std::env::var(name).ok());
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let folder = list.parent().unwrap_or(Path::new(""));
    let pairs = words.windows(2).filter(|pair| matches!(pair[0], "-f" | "-F"));
    pairs.map(|pair| folder.join(pair[1])).collect()
}

/// Names after a dollar sign, in braces or parentheses or without.
fn variables(text: &str) -> impl Iterator<Item = &str> {
    text.split('$').skip(1).filter_map(|rest| {
        let rest = rest.strip_prefix(['{', '(']).unwrap_or(rest);
        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        Some(&rest[..end.unwrap_or(rest.len())]).filter(|name| !name.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_have_three_forms() {
        let found: Vec<&str> = variables("$A/rtl/a.sv ${B}/b.sv\n+incdir+$(C_2) $ 5$").collect();
        assert_eq!(found, ["A", "B", "C_2"]);
    }
}
