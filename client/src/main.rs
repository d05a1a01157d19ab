//! `ax`, the command line: it turns its arguments into one request, and prints the answer as it arrives.

mod cli;

fn main() -> std::process::ExitCode {
    let mut args = std::env::args_os();
    let name = args.next();
    cli::run_as(name.as_deref(), args.collect()).into()
}
