//! `ax`: what you type. Thin and fast: argv becomes one request, its answer is printed as it comes.

mod cli;

fn main() -> std::process::ExitCode {
    cli::run(std::env::args_os().skip(1).collect()).into()
}
