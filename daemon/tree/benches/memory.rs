//! How many bytes a node of the tree takes, counted by the allocator: `cargo bench -p axd --bench memory`.

mod made;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use made::Fed;

/// The system's allocator, and how much of it is in use.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);

/// What malloc takes for so many bytes: a header, rounded up to 16.
fn taken(bytes: usize) -> usize {
    (bytes + 8).next_multiple_of(16).max(32)
}

// SAFETY: every call goes to the system's allocator as it came; counting touches no memory of theirs.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        IN_USE.fetch_add(taken(layout.size()), Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(taken(layout.size()), Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() {
    println!("{:>9}  {:>10}  {:>14}", "nodes", "bytes/node", "bytes() says");
    for nodes in [2_000, 20_000, 100_000] {
        let mut fed = Fed::empty();
        let before = IN_USE.load(Relaxed);
        // The walk is used up by applying it, so what is left is the tree.
        fed.apply(made::walk(nodes));
        let held = IN_USE.load(Relaxed) - before;
        let nodes = fed.tree.len();
        println!("{nodes:>9}  {:>10}  {:>14}", held / nodes, fed.tree.bytes() / nodes);
    }
}
