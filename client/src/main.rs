//! `ax`, the command line: it turns its arguments into one request, and prints the answer as it arrives.

mod cli;

fn main() -> std::process::ExitCode {
    cli::run(std::env::args_os().skip(1).collect()).into()
}
