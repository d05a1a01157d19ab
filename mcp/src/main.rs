//! `ax-mcp`: serves AI agents over the Model Context Protocol, as a client of axd.
//!
//! Read in this order: `server.rs` (what the protocol asks for), `tools/mod.rs` (the table of tools), one of the tools,
//! `profile/mod.rs` (the tools of other designs), `link/mod.rs` (the connection to axd), `view.rs` (differences instead of trees).

mod answer;
mod answered;
mod approval;
mod arguments;
mod call;
mod install;
mod link;
mod marks;
mod options;
mod profile;
mod resources;
mod schema;
mod server;
mod similar;
mod stdio;
mod tools;
mod view;
mod wording;

use std::process::ExitCode;

use axd_protocol::command::McpAction;
use rmcp::ServiceExt;
use tokio_util::sync::CancellationToken;

use options::Options;
use server::Server;
use stdio::Stdio;

fn main() -> ExitCode {
    let options = Options::parse();
    match options.mcp.action {
        McpAction::Install => install::run(&options),
        McpAction::Serve => serve(options),
    }
}

/// Serves the client until it closes standard input.
fn serve(options: Options) -> ExitCode {
    // One thread: everything here waits for the client or for axd.
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(fault) => return failed(&format!("cannot start: {fault}")),
    };
    stdio::exit_with_client();
    let served = runtime.block_on(async {
        let closing = CancellationToken::new();
        let stdio = Stdio::new(closing.clone());
        let server = Server::new(options, closing);
        let running = server.serve(stdio).await.map_err(|fault| fault.to_string())?;
        running.waiting().await.map_err(|fault| fault.to_string())
    });
    // A blocking read of standard input may still be under way, and nobody waits for it.
    runtime.shutdown_background();
    match served {
        Ok(_) => ExitCode::SUCCESS,
        // A client that closes its end before it has said anything is done, too.
        Err(fault) if fault.contains("connection closed") => ExitCode::SUCCESS,
        Err(fault) => failed(&fault),
    }
}

fn failed(message: &str) -> ExitCode {
    eprintln!("ax-mcp: {message}");
    ExitCode::FAILURE
}
