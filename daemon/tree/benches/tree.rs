//! The tree alone: what each way in and out of it costs, and whether that follows the change or the size.

mod made;

use std::hint::black_box;
use std::time::Duration;

use axd_protocol::Role;
use axd_protocol::selector::Selector;
use axd_tree::ElementKey;
use axd_tree::{NodeFields, Scope, Tree, View};
use criterion::measurement::WallTime;
use criterion::{
    BatchSize, BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main,
};

use made::Fed;

const SIZES: [u64; 2] = [2_000, 100_000];

fn apply(c: &mut Criterion) {
    let mut group = short(c, "apply");
    for nodes in SIZES {
        group.throughput(Throughput::Elements(nodes));
        group.bench_function(BenchmarkId::new("first_walk", nodes), |b| {
            b.iter_batched(
                || (Fed::empty(), made::walk(nodes)),
                |(mut fed, walk)| {
                    fed.apply(walk);
                    fed
                },
                BatchSize::PerIteration,
            );
        });
        for changes in [1, 100] {
            let mut fed = Fed::of(made::walk(nodes));
            let keys = made::texts(changes);
            group.throughput(Throughput::Elements(changes));
            group.bench_function(BenchmarkId::new(format!("{changes}_changed"), nodes), |b| {
                b.iter_batched(|| values(&keys), |updates| fed.apply(updates), BatchSize::SmallInput);
            });
        }
    }
    let count = 10_000;
    let mut fed = Fed::of(made::flat(count));
    let (sorted, reversed) = ((2..2 + count).collect::<Vec<_>>(), (2..2 + count).rev().collect::<Vec<_>>());
    let mut forth = false;
    group.throughput(Throughput::Elements(count));
    group.bench_function(BenchmarkId::new("reverse_siblings", count), |b| {
        b.iter_batched(
            || {
                forth = !forth;
                vec![made::children(1, if forth { reversed.clone() } else { sorted.clone() })]
            },
            |updates| fed.apply(updates),
            BatchSize::LargeInput,
        );
    });
    group.finish();
}

/// New values for these texts, other ones each time.
fn values(keys: &[u64]) -> Vec<axd_tree::Update> {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let value = NEXT.fetch_add(1, Relaxed).to_string();
    keys.iter().map(|key| made::new_value(*key, &value)).collect()
}

fn changes(c: &mut Criterion) {
    let mut group = short(c, "changes_since");
    for nodes in SIZES {
        for changes in [1, 100] {
            let mut fed = Fed::of(made::walk(nodes));
            let since = fed.tick;
            fed.apply(values(&made::texts(changes)));
            group.bench_function(BenchmarkId::new(format!("{changes}_changed"), nodes), |b| {
                b.iter(|| fed.tree.changes_since(black_box(since)));
            });
            let mut out = Vec::new();
            group.bench_function(BenchmarkId::new(format!("{changes}_changed_json"), nodes), |b| {
                b.iter(|| {
                    out.clear();
                    if let Some(changes) = fed.tree.changes_since(black_box(since)) {
                        fed.tree.write_changes(&changes, &mut out);
                    }
                    out.len()
                });
            });
        }
    }
    group.finish();
}

fn find(c: &mut Criterion) {
    let mut group = short(c, "find");
    let selectors = [
        ("role_and_name", "button:Save"),
        ("role_of_few", "searchfield"),
        ("role_of_many", "row"),
        ("path", "window group > row:\"Row 11\" > button:Open"),
        ("text_contains", "*[text~=\"11.00\"]"),
    ];
    for nodes in SIZES {
        let fed = Fed::of(made::walk(nodes));
        let root = fed.tree.root().expect("the app was walked");
        for (what, selector) in selectors {
            let selector = Selector::parse(selector).expect("a selector");
            group.bench_function(BenchmarkId::new(what, nodes), |b| {
                b.iter(|| fed.tree.find(black_box(&selector), Scope { root }, Some(100)));
            });
        }
    }
    group.bench_function("parse", |b| {
        b.iter(|| Selector::parse(black_box("window group > row:\"Row 11\" > button:Open")));
    });
    group.finish();
}

fn snapshot(c: &mut Criterion) {
    let mut group = short(c, "snapshot");
    for nodes in SIZES {
        let Fed { tree, .. } = Fed::of(made::walk(nodes));
        let root = tree.root().expect("the app was walked");
        let view = View::default();
        let showing = tree.show(root, &view);
        group.throughput(Throughput::Elements(nodes));
        group.bench_function(BenchmarkId::new("show", nodes), |b| b.iter(|| tree.show(root, &view)));
        let mut json = Vec::new();
        group.bench_function(BenchmarkId::new("json", nodes), |b| {
            b.iter(|| {
                json.clear();
                tree.write_json(&showing, &view, NodeFields::COMMON, &mut json);
                json.len()
            });
        });
        let mut text = String::new();
        group.bench_function(BenchmarkId::new("text", nodes), |b| {
            b.iter(|| {
                text.clear();
                tree.write_text(&showing, &view, &mut text);
                text.len()
            });
        });
        group.bench_function(BenchmarkId::new("whole", nodes), |b| {
            b.iter(|| {
                json.clear();
                tree.write_whole(root, &mut json);
                json.len()
            });
        });
    }
    group.finish();
}

fn resolve(c: &mut Criterion) {
    let mut group = short(c, "resolve");
    for nodes in SIZES {
        let Fed { tree, .. } = Fed::of(made::walk(nodes));
        let save = id_of(&tree, made::SAVE);
        group.bench_function(BenchmarkId::new("id", nodes), |b| b.iter(|| tree.resolve(black_box(save))));
        group.bench_function(BenchmarkId::new("like", nodes), |b| {
            b.iter(|| tree.like(Role::Button, black_box(Some("Sve")), 5));
        });
    }
    group.finish();
}

fn id_of(tree: &Tree, key: u64) -> axd_protocol::NodeId {
    tree.id(tree.by_key(ElementKey(key)).expect("the element is there"))
}

/// A group whose benches take about a second each.
fn short<'c>(c: &'c mut Criterion, name: &str) -> BenchmarkGroup<'c, WallTime> {
    let mut group = c.benchmark_group(name);
    group.sample_size(20).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    group
}

criterion_group!(benches, apply, changes, find, snapshot, resolve);
criterion_main!(benches);
