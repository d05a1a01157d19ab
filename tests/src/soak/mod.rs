//! A soak: many clients at once, of every kind, for a long time, while apps die and hang and clients misbehave. Afterwards nothing may
//! have grown, diverged, gone missing or changed its meaning.
//!
//! Clients and faults are paced by the clock, because a load has a pace. What is waited for is waited for as a condition.

mod book;
mod clients;
mod follower;
mod ground;
mod vitals;
mod wire;

use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

use book::Wrong;
use clients::Dice;
use ground::{Ground, Kind};
use vitals::{Vitals, trend};

/// What to run.
#[derive(Debug)]
pub struct Soak {
    /// The daemon's program.
    pub axd: PathBuf,
    /// For how long.
    pub time: Duration,
    /// How many clients each daemon has.
    pub clients: usize,
    /// Whether there is a second daemon on the desktop that this process is in.
    pub desktop: bool,
    /// The seed of the clients' choices.
    pub seed: u64,
}

/// Runs a soak and prints its tables; returns what was wrong.
pub fn run(soak: &Soak) -> Vec<String> {
    let mut grounds = vec![Ground::sim(&soak.axd)];
    if soak.desktop {
        grounds.push(Ground::linux(&soak.axd));
    }
    let began = Instant::now();
    let idle: Vec<Vitals> =
        grounds.iter().map(|ground| Vitals::of(ground.pid(), 0.0).unwrap_or_default()).collect();
    let mut samples: Vec<Vec<Vitals>> = vec![Vec::new(); grounds.len()];
    println!("seed {}, {} clients for each daemon, {} s", soak.seed, soak.clients, soak.time.as_secs());
    println!(
        "| minute | daemon | requests | events | errors | memory MB | descriptors | threads | missed | diverged | ids | other |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    thread::scope(|scope| {
        for ground in &grounds {
            for number in 0..soak.clients {
                let seed = soak.seed.wrapping_mul(1_000).wrapping_add(number as u64);
                let client = match number % 20 {
                    0 | 1 => follower::follower,
                    2 => clients::actor,
                    3 => clients::dropper,
                    4 => clients::slow_reader,
                    5 => clients::babbler,
                    _ => clients::reader,
                };
                let spawned = thread::Builder::new()
                    .stack_size(1 << 20)
                    .spawn_scoped(scope, move || client(ground, seed));
                spawned.expect("a thread");
            }
            scope.spawn(move || faults(ground, soak.seed));
        }
        let mut minute = 1;
        while began.elapsed() < soak.time && !grounds.iter().any(Ground::has_ended) {
            let at = began.elapsed().as_secs_f64();
            for (ground, samples) in grounds.iter().zip(&mut samples) {
                samples.extend(Vitals::of(ground.pid(), at));
            }
            if began.elapsed() >= Duration::from_secs(minute * 60) {
                grounds
                    .iter()
                    .zip(&samples)
                    .for_each(|(ground, samples)| print_minute(minute, ground, samples));
                minute += 1;
            }
            // The pace of the samples.
            grounds[0].pause(Duration::from_secs(1).min(soak.time.saturating_sub(began.elapsed())));
        }
        grounds.iter().for_each(|ground| ground.stop.store(true, Relaxed));
    });
    let mut wrong = Vec::new();
    for ((ground, samples), idle) in grounds.iter().zip(&samples).zip(&idle) {
        wrong.extend(conclude(ground, samples, idle));
    }
    wrong
}

/// Does something bad to an app every few seconds: one is killed and started again, one stopped and let go on, one storms.
fn faults(ground: &Ground, seed: u64) {
    let mut dice = Dice::new(seed ^ 0xfa17);
    let spared = |app: &&ground::App| app.name != "Tally";
    let apps: Vec<&ground::App> = ground.apps.iter().filter(spared).collect();
    let floods: Vec<&ground::App> = apps.iter().copied().filter(|app| app.kind != Kind::Record).collect();
    let mut turn = 0;
    while !ground.is_over() {
        ground.pause(Duration::from_millis(1_500 + dice.below(1_000) as u64));
        if ground.is_over() {
            return;
        }
        book::Book::add(&ground.book.faults);
        turn += 1;
        match turn % 4 {
            0 => ground.restart(apps[turn / 4 % apps.len()]),
            2 => ground.hang(apps[dice.below(apps.len())], Duration::from_secs(2)),
            _ => ground.flood(floods[dice.below(floods.len())]),
        }
    }
}

fn print_minute(minute: u64, ground: &Ground, samples: &[Vitals]) {
    let (book, last) = (&ground.book, samples.last().copied().unwrap_or_default());
    let ids = book.count(Wrong::IdDied) + book.count(Wrong::IdChanged) + book.count(Wrong::IdNotKept);
    let (missed, diverged) = (book.count(Wrong::Missed), book.count(Wrong::Diverged));
    let other = Wrong::ALL.iter().map(|(wrong, _)| book.count(*wrong)).sum::<u64>() - ids - missed - diverged;
    println!(
        "| {minute} | {} | {} | {} | {} | {:.1} | {} | {} | {missed} | {diverged} | {ids} | {other} |",
        ground.name,
        book.requests(),
        book.events.load(Relaxed),
        book.errors().iter().map(|(_, count)| count).sum::<u64>(),
        last.memory as f64 / f64::from(1 << 20),
        last.descriptors,
        last.threads,
    );
}

/// Prints the tables of a daemon; what was wrong.
fn conclude(ground: &Ground, samples: &[Vitals], idle: &Vitals) -> Vec<String> {
    let book = &ground.book;
    let mut wrong = Vec::new();
    if ground.has_ended() {
        wrong.push(format!("{}: the daemon ended: {}", ground.name, ground.log()));
    } else {
        ground.settle_accounts();
    }
    println!("\n## {}\n\n| request | answers | p50 ms | p99 ms |\n| --- | --- | --- | --- |", ground.name);
    for (kind, count, p50, p99) in book.kinds() {
        println!("| {kind} | {count} | {p50:.2} | {p99:.2} |");
    }
    println!("\n| error | answers |\n| --- | --- |");
    book.errors().iter().for_each(|(code, count)| println!("| {code} | {count} |"));
    println!("\n| counted | |\n| --- | --- |");
    println!("| requests answered | {} |", book.requests());
    println!("| events to followers | {} |", book.events.load(Relaxed));
    println!("| comparisons of a replica with a fresh tree | {} |", book.compared.load(Relaxed));
    println!("| looks at an id whose meaning is known | {} |", book.ids_checked.load(Relaxed));
    println!("| faults injected | {} |", book.faults.load(Relaxed));
    for (kind, name) in Wrong::ALL {
        println!("| {name} | {} |", book.count(kind));
        if book.count(kind) > 0 {
            wrong.push(format!("{}: {name}: {}", ground.name, book.count(kind)));
        }
    }
    let trend = trend(samples);
    let mb = |bytes: f64| bytes / f64::from(1 << 20);
    println!(
        "| memory after the warm-up, median | {:.1} MB (idle {:.1} MB) |",
        mb(trend.median as f64),
        mb(idle.memory as f64)
    );
    let verdict = if trend.is_flat { "flat" } else { "not flat" };
    println!("| memory, trend | {:+.2} MB an hour: {verdict} |", mb(trend.slope) * 3_600.0);
    if !trend.is_flat {
        wrong.push(format!("{}: memory grew by {:.1} MB after the warm-up", ground.name, mb(trend.growth)));
    }
    let most = |of: fn(&Vitals) -> u64| samples.iter().map(of).max().unwrap_or(0);
    let after = rest(ground, idle);
    println!(
        "| descriptors: idle, most, after the clients left | {}, {}, {} |",
        idle.descriptors,
        most(|it| it.descriptors),
        after.descriptors
    );
    println!(
        "| threads: idle, most, after | {}, {}, {} |",
        idle.threads,
        most(|it| it.threads),
        after.threads
    );
    if after.descriptors > idle.descriptors + SPARE_DESCRIPTORS {
        wrong.push(format!("{}: {} descriptors stay open", ground.name, after.descriptors));
    }
    book.notes().iter().for_each(|note| println!("note: {note}"));
    wrong
}

/// How many descriptors more than at the start may stay open: connections to apps are kept for the next use.
const SPARE_DESCRIPTORS: u64 = 12;

/// Waits until the daemon has let go of its clients; how it is then.
fn rest(ground: &Ground, idle: &Vitals) -> Vitals {
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        let now = Vitals::of(ground.pid(), 0.0).unwrap_or_default();
        if now.descriptors <= idle.descriptors + SPARE_DESCRIPTORS || Instant::now() > end {
            return now;
        }
        thread::yield_now();
    }
}
