//! Finds the name that was probably meant.

/// The name that is most like `word`, if one is so like it that it was probably meant.
pub fn similar<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace(['-', '_', ' '], "");
    let word = plain(word);
    let near = |name: &'a str| {
        let known = plain(name);
        let distance = distance(&word, &known);
        let begins = word.len() >= 3 && (known.starts_with(&word) || word.starts_with(&known));
        let most = word.chars().count().max(known.chars().count()) / 3;
        (distance <= most || begins).then_some((distance, name))
    };
    names.into_iter().filter_map(near).min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// What is said of a tool that there is not.
pub fn unknown_tool<'a, N: Iterator<Item = &'a str>>(name: &str, names: impl Fn() -> N) -> String {
    let meant = match similar(name, names()) {
        Some(meant) => format!("did you mean '{meant}'?"),
        None => format!("the tools are: {}", names().collect::<Vec<_>>().join(", ")),
    };
    format!("there is no tool '{name}'; {meant}")
}

/// The number of letters to add, take away, change or swap with the next one to make one word of the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let differs = usize::from(a[i - 1] != b[j - 1]);
            let mut least = (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(rows[i - 1][j - 1] + differs);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_understood_and_another_word_is_not() {
        let names = ["target", "max_tokens", "wait_for", "app"];
        assert_eq!(similar("tagret", names), Some("target"));
        assert_eq!(similar("maxTokens", names), Some("max_tokens"));
        assert_eq!(similar("wait", names), Some("wait_for"));
        assert_eq!(similar("colour", names), None);
        assert_eq!(distance("act", "cat"), 1);
    }
}
