//! Counts the tokens (o200k) of files: a line for each, the count and the path. `scripts/tokens` uses it.

fn main() -> std::io::Result<()> {
    let tokenizer = bpe_openai::o200k_base();
    for path in std::env::args().skip(1) {
        let text = String::from_utf8_lossy(&std::fs::read(&path)?).into_owned();
        println!("{} {path}", tokenizer.count(text.as_str()));
    }
    Ok(())
}
