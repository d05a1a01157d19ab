//! The window that `selftest` measures the system with.

use std::cell::RefCell;

use objc2::rc::Retained;
use objc2::runtime::{AnyObject, NSObject};
use objc2::{AnyThread, DefinedClass, MainThreadMarker, MainThreadOnly, define_class, msg_send, sel};
use objc2_app_kit::{
    NSBackingStoreType, NSButton, NSControl, NSScrollView, NSTableColumn, NSTableView, NSTextField, NSView,
    NSWindow, NSWindowStyleMask,
};
use objc2_foundation::{NSIndexSet, NSInteger, NSPoint, NSRect, NSSize, NSString};

use crate::appkit::host::TestChange;

/// What the window's button and table ask for.
#[derive(Default)]
struct Counts {
    presses: std::cell::Cell<u32>,
    rows: std::cell::Cell<NSInteger>,
}

define_class!(
    // SAFETY: NSObject has no rules for those who inherit from it, and the class does not implement `Drop`.
    #[unsafe(super(NSObject))]
    #[thread_kind = MainThreadOnly]
    #[name = "TestTargetOfAxd"]
    #[ivars = Counts]
    struct TestTarget;

    impl TestTarget {
        #[unsafe(method(pressed:))]
        fn pressed(&self, _sender: &AnyObject) {
            let presses = &self.ivars().presses;
            presses.set(presses.get() + 1);
        }

        #[unsafe(method(numberOfRowsInTableView:))]
        fn row_count(&self, _table: &NSTableView) -> NSInteger {
            self.ivars().rows.get()
        }

        #[unsafe(method_id(tableView:objectValueForTableColumn:row:))]
        fn cell(&self, _table: &NSTableView, _column: Option<&AnyObject>, row: NSInteger) -> Retained<NSString> {
            NSString::from_str(&format!("row {row}"))
        }
    }
);

struct TestWindow {
    window: Retained<NSWindow>,
    label: Retained<NSTextField>,
    doomed: Retained<NSTextField>,
    field: Retained<NSTextField>,
    table: Retained<NSTableView>,
    target: Retained<TestTarget>,
}

thread_local! {
    /// Only thread 0 has one.
    static WINDOW: RefCell<Option<TestWindow>> = const { RefCell::new(None) };
}

/// Opens the window. Returns this process, which it belongs to.
pub fn open_test_window() -> Option<u32> {
    let thread = MainThreadMarker::new()?;
    let window = TestWindow::open(thread);
    WINDOW.with_borrow_mut(|open| *open = Some(window));
    Some(std::process::id())
}

/// Changes the window.
pub fn change_test_window(change: TestChange) {
    WINDOW.with_borrow(|open| open.iter().for_each(|window| window.change(&change)));
}

/// How often its button was pressed.
pub fn test_window_presses() -> u32 {
    WINDOW.with_borrow(|open| open.as_ref().map_or(0, |window| window.target.ivars().presses.get()))
}

impl TestWindow {
    fn open(thread: MainThreadMarker) -> TestWindow {
        let frame = rect(80.0, 80.0, 320.0, 260.0);
        // SAFETY: all arguments are plain values; the window is kept by its owner here, not by itself.
        let window = unsafe {
            let window = NSWindow::initWithContentRect_styleMask_backing_defer(
                NSWindow::alloc(thread),
                frame,
                NSWindowStyleMask::Titled,
                NSBackingStoreType::Buffered,
                false,
            );
            window.setReleasedWhenClosed(false);
            window
        };
        window.setTitle(&NSString::from_str("axd selftest"));
        let target: Retained<TestTarget> = {
            let target = TestTarget::alloc(thread).set_ivars(Counts::default());
            // SAFETY: the initializer of NSObject takes nothing.
            unsafe { msg_send![super(target), init] }
        };
        target.ivars().rows.set(3);
        let text = |content: &str| NSTextField::labelWithString(&NSString::from_str(content), thread);
        let (label, doomed) = (text("label"), text("doomed"));
        let field = NSTextField::textFieldWithString(&NSString::from_str(""), thread);
        // SAFETY: the target has the method that is named, and lives as long as the window.
        let button = unsafe {
            let title = NSString::from_str("Button");
            NSButton::buttonWithTitle_target_action(&title, Some(&target), Some(sel!(pressed:)), thread)
        };
        let table = NSTableView::initWithFrame(NSTableView::alloc(thread), rect(0.0, 0.0, 280.0, 100.0));
        let column =
            NSTableColumn::initWithIdentifier(NSTableColumn::alloc(thread), &NSString::from_str("column"));
        table.addTableColumn(&column);
        // SAFETY: the target has the methods of a data source, and lives as long as the table.
        unsafe {
            let _: () = msg_send![&*table, setDataSource: &*target];
        }
        let scroll = NSScrollView::initWithFrame(NSScrollView::alloc(thread), rect(20.0, 20.0, 280.0, 100.0));
        scroll.setDocumentView(Some(&table));
        if let Some(content) = window.contentView() {
            place(&content, &label, "label", rect(20.0, 220.0, 280.0, 20.0));
            place(&content, &doomed, "doomed", rect(20.0, 195.0, 280.0, 20.0));
            place(&content, &field, "field", rect(20.0, 165.0, 280.0, 24.0));
            place(&content, &button, "button", rect(20.0, 130.0, 120.0, 28.0));
            content.addSubview(&scroll);
        }
        name(&table, "rows");
        window.orderFrontRegardless();
        TestWindow { window, label, doomed, field, table, target }
    }

    fn change(&self, change: &TestChange) {
        match change {
            TestChange::Label(units) => {
                // SAFETY: the units are as many as is said, and copied; what is returned is owned.
                let text: Retained<NSString> = unsafe {
                    msg_send![
                        NSString::alloc(),
                        initWithCharacters: units.as_ptr(),
                        length: units.len()
                    ]
                };
                set_text(&self.label, &text);
            }
            TestChange::Field => set_text(&self.field, &NSString::from_str("filled")),
            TestChange::Title => self.window.setTitle(&NSString::from_str("axd selftest, changed")),
            TestChange::Select => {
                self.table.selectRowIndexes_byExtendingSelection(&NSIndexSet::indexSetWithIndex(1), false);
            }
            TestChange::AddRow => {
                let rows = &self.target.ivars().rows;
                rows.set(rows.get() + 1);
                self.table.reloadData();
            }
            TestChange::Focus => drop(self.window.makeFirstResponder(Some(&self.field))),
            TestChange::Remove => self.doomed.removeFromSuperview(),
        }
    }
}

fn set_text(control: &NSControl, text: &NSString) {
    control.setStringValue(text);
}

fn place(content: &NSView, view: &NSView, identifier: &str, frame: NSRect) {
    view.setFrame(frame);
    name(view, identifier);
    content.addSubview(view);
}

/// Gives a view the identifier that accessibility clients see.
fn name(view: &NSView, identifier: &str) {
    let identifier = NSString::from_str(identifier);
    // SAFETY: every view takes an accessibility identifier, which is copied.
    unsafe {
        let _: () = msg_send![view, setAccessibilityIdentifier: &*identifier];
    }
}

fn rect(x: f64, y: f64, width: f64, height: f64) -> NSRect {
    NSRect::new(NSPoint::new(x, y), NSSize::new(width, height))
}
