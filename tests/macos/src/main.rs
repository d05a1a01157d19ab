//! `axd-l4`: axd on a real Mac, with apps of Apple's, and a report of it.
//!
//! It never hangs, because every wait has a limit, and never ends without a report, because that is written after each check and
//! every error is one line of it. It needs nothing but macOS: no compiler, no Python.

mod ax;
mod checks;
mod evidence;
mod options;
mod permissions;
mod process;
mod report;
mod stage;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use axd_client::launchd;

use ax::{Ax, Checked};
use checks::{Check, Needs};
use evidence::Evidence;
use options::Options;
use permissions::Permissions;
use report::{Outcome, Report};
use stage::Stage;

/// How long ending an agent may take.
const BOOTOUT_LIMIT: Duration = Duration::from_secs(20);

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            print!("{}", options::HELP);
            return ExitCode::SUCCESS;
        }
        Err(fault) => {
            eprintln!("{fault}\n\n{}", options::HELP);
            return ExitCode::from(2);
        }
    };
    // What an earlier run left would be taken for this one's.
    let _ = fs::remove_dir_all(&options.out);
    if let Err(fault) = fs::create_dir_all(&options.out) {
        eprintln!("{} cannot be made: {fault}", options.out.display());
        return ExitCode::from(2);
    }
    let mut report = Report::new(&options.out, evidence::machine());
    if let Err(fault) = run(&options, &mut report) {
        report.remark(format!("The run was ended: {fault}"));
    }
    let archive = evidence::pack(&options.out);
    println!("\n{}\nThe report is {}: please send it home.", report.summary(), archive.display());
    if report.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run(options: &Options, report: &mut Report) -> Checked {
    let evidence = Evidence::new(&options.out);
    let ax = Ax::install(&options.bin, &options.home, &options.out.join("daemon"))?;
    measure(&ax, report);
    let granted = prepare(options, &ax, report);
    if granted.accessibility {
        run_checks(options, &ax, &evidence, granted, report);
        report.complete();
    } else {
        let why = "axd lacks the accessibility permission";
        for check in selected(options) {
            report.add(check.name, Outcome::Skipped(why.to_owned()), Duration::ZERO);
        }
    }
    // What follows may take a while; who ends it here has a report.
    evidence::count_notifications(&ax.log(), report);
    evidence.keep_all(&ax);
    leave(&ax);
    Ok(())
}

/// Has axd measure this Mac with a window of its own. That needs no permission, so it comes home in any case.
fn measure(ax: &Ax, report: &mut Report) {
    match ax.data(&["selftest"]) {
        Ok(measured) => report.selftest = measured,
        Err(fault) => report.remark(format!("The selftest told nothing: {fault}")),
    }
    report.write();
}

/// Waits for the permissions, and tells what is known of the machine.
fn prepare(options: &Options, ax: &Ax, report: &mut Report) -> Permissions {
    let (granted, fault) = permissions::wait_for_both(ax, options.patience);
    if let Some(fault) = fault {
        report.remark(format!("The daemon did not tell its permissions: {fault}"));
    }
    if !granted.accessibility {
        report.remark(format!(
            "Accessibility was not granted to {} within {} s; nothing was tested.",
            ax.bundle().display(),
            options.patience.as_secs()
        ));
        return granted;
    }
    if !granted.pictures {
        report.remark("Screen Recording was not granted; pictures are not tested.");
    }
    if let Ok(doctor) = ax.data(&["doctor"]) {
        let findings = doctor["checks"].as_array().map(Vec::as_slice).unwrap_or_default();
        report.doctor = findings.iter().map(ToString::to_string).collect();
        report.write();
    }
    if options.asks_for_return {
        permissions::wait_for_return();
    }
    granted
}

fn selected(options: &Options) -> Vec<Check> {
    checks::all().into_iter().filter(|check| options.selects(check.name)).collect()
}

fn run_checks(options: &Options, ax: &Ax, evidence: &Evidence, granted: Permissions, report: &mut Report) {
    let mut stage = Stage { ax, evidence, actor: None, costs: Vec::new() };
    let begin_of_all = Instant::now();
    for check in selected(options) {
        let begin = Instant::now();
        if begin_of_all.elapsed() >= options.limit {
            // Where everything hangs, a report that comes is worth more than the rest of the checks.
            let why = format!("not run: the {} s for all checks were over", options.limit.as_secs());
            report.add(check.name, Outcome::Failed(why), Duration::ZERO);
            continue;
        }
        let outcome = match missing(&check, options, granted) {
            Some(why) => Outcome::Skipped(why.to_owned()),
            None => {
                // A fault of ours in one check is no reason to leave out the others.
                let ran = catch_unwind(AssertUnwindSafe(|| run_one(&check, options, &mut stage)));
                match ran.unwrap_or_else(|_| Err("the check itself failed; see its output".to_owned())) {
                    Ok(()) => Outcome::Ok,
                    Err(why) => Outcome::Failed(why),
                }
            }
        };
        stage.actor = None;
        if let Outcome::Failed(why) = &outcome {
            evidence.keep_failure(check.name, why, ax);
        }
        report.costs.clone_from(&stage.costs);
        report.add(check.name, outcome, begin.elapsed());
    }
}

fn run_one(check: &Check, options: &Options, stage: &mut Stage<'_>) -> Checked {
    if let Some(program) = options.test_app.as_ref().filter(|_| check.needs != Needs::Axd) {
        stage.enter(program)?;
    }
    (check.run)(stage)
}

/// Why a check cannot be tried; `None` if it can.
fn missing(check: &Check, options: &Options, granted: Permissions) -> Option<&'static str> {
    if check.needs != Needs::Axd && options.test_app.is_none() {
        return Some("the test app was not built, because there is no swiftc here");
    }
    (check.needs == Needs::Pictures && !granted.pictures)
        .then_some("axd lacks the screen recording permission")
}

/// Stops the daemon, and has launchd forget its agent.
fn leave(ax: &Ax) {
    // The agents of other sockets, of the user's own axd among them, are left alone.
    let file = |label: &str| ax.folder.join(format!("{label}.plist"));
    let own: Vec<String> = evidence::labels().into_iter().filter(|label| file(label).exists()).collect();
    let _ = ax.ask(&["shutdown"]);
    for label in own {
        let _ = process::tool("launchctl", ["bootout", &launchd::target(&label)], BOOTOUT_LIMIT);
    }
}
