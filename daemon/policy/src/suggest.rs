//! What was probably meant by a word that means nothing.

/// The word that is nearest to one that means nothing, if one is near.
pub(crate) fn nearest<'a>(word: &str, words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |word: &str| word.to_lowercase().replace('-', "_");
    let word = plain(word);
    // A third of the letters may be wrong; with more, short words would be near to everything.
    let most = (word.chars().count() / 3).clamp(1, 3);
    let distance = |known: &str| {
        let known = plain(known);
        let is_cut_short = word.len() > 2 && (known.starts_with(&word) || word.starts_with(&known));
        if is_cut_short { 1 } else { strsim::osa_distance(&word, &known) }
    };
    words
        .map(|known| (distance(known), known))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// A hint: the nearest word, or else all of them.
pub(crate) fn or_all<'a>(word: &str, words: impl Iterator<Item = &'a str> + Clone) -> String {
    match nearest(word, words.clone()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("there are {}", words.collect::<Vec<_>>().join(", ")),
    }
}
