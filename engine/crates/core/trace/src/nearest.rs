//! Names that are like one that does not exist.

/// Number of suggestions.
const OFFERED: usize = 5;

/// The entries of `known` that are most similar to `name`, if there are any: by the number of changed letters, with
/// preference for names that contain it, or are contained in it.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let wanted = name.to_lowercase();
    let mut found: Vec<(usize, &str)> = known
        .filter_map(|each| {
            let near = distance(&wanted, &each.to_lowercase());
            (near <= wanted.len().max(3) / 2).then_some((near, each))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    let names: Vec<&str> = found.iter().take(OFFERED).map(|(_, each)| *each).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// Letters to change, to add or to omit; those around a contained name count less.
fn distance(one: &str, other: &str) -> usize {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let (short, long) = if one.len() < other.len() {
        (one, other)
    } else {
        (other, one)
    };
    if !short.is_empty() && long.windows(short.len()).any(|part| part == short) {
        return (long.len() - short.len()).div_ceil(8);
    }
    if long.len() - short.len() > one.len().max(3) / 2 {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, letter) in one.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (place, other) in other.iter().enumerate() {
            let changed = diagonal + usize::from(letter != other);
            diagonal = row[place + 1];
            row[place + 1] = changed.min(diagonal + 1).min(row[place] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_few_changes_come_first() {
        let known = ["schedule", "scheduler_tick", "main", "do_main", "reschedule"];
        let near = |name| nearest(name, known.into_iter());
        assert_eq!(near("shedule").as_deref(), Some("schedule, reschedule"));
        assert_eq!(near("mian").as_deref(), Some("main"));
        assert_eq!(near("main_").as_deref(), Some("main"));
        assert_eq!(near("zzzzzzzz"), None);
    }
}
