//! The lock of an app's tree.
//!
//! A change that waits for a long search must not keep short reads waiting too, and no thread that runs other tasks may stand
//! still for either. So short reads pass a change that waits, long ones queue behind it, and whoever has to wait for long
//! hands the thread's other tasks to another thread first.

use axd_tree::Tree;
use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A tree that one batch at a time changes, and that many requests read.
#[derive(Debug)]
pub struct TreeLock(RwLock<Tree>);

impl TreeLock {
    /// A lock around a tree.
    pub fn new(tree: Tree) -> TreeLock {
        TreeLock(RwLock::new(tree))
    }

    /// Locks the tree for a short read. It waits for a change that is being applied, not for one that waits itself.
    pub fn read(&self) -> RwLockReadGuard<'_, Tree> {
        self.0.read_recursive()
    }

    /// Locks the tree for a short read, if no change is being applied.
    pub fn try_read(&self) -> Option<RwLockReadGuard<'_, Tree>> {
        self.0.try_read_recursive()
    }

    /// Locks the tree for a long read, behind changes that wait. The caller must be allowed to block.
    pub fn read_in_turn(&self) -> RwLockReadGuard<'_, Tree> {
        self.0.read()
    }

    /// Locks the tree to change it.
    pub fn write(&self) -> RwLockWriteGuard<'_, Tree> {
        match self.0.try_write() {
            Some(tree) => tree,
            None => crate::tree_work::blocking(|| self.0.write()),
        }
    }
}
