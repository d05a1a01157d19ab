// The test app of macOS: the widgets of tests/desktop/apps, by the same names, in AppKit, and a few in SwiftUI. One file, for
// `swiftc`, without a project.
//
//   AxdTest                     shows its window and prints `ready`
//   AxdTest --held              prints the keys and mouse buttons that are down, one a line, and exits
//   AxdTest --click X Y         clicks there, as a person would, and exits
//
// It prints a line for what no tree tells: `dropped TEXT`, `chose NAME`. A label counts the seconds (`tick 3`): what it announces
// of that, it announces without having been asked for anything. Its window fits a screen of 1024 by 768.

import AppKit
import SwiftUI

func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

// MARK: - Hands past the daemon

func printHeld() {
    for key in 0..<128 where CGEventSource.keyState(.combinedSessionState, key: CGKeyCode(key)) {
        say("key \(key)")
    }
    let buttons: [(CGMouseButton, String)] = [(.left, "left button"), (.right, "right button"), (.center, "middle button")]
    for (button, name) in buttons where CGEventSource.buttonState(.combinedSessionState, button: button) {
        say(name)
    }
}

/// A person holds the button for a while: an app loses a release that comes together with its press.
func click(_ x: Double, _ y: Double) {
    let point = CGPoint(x: x, y: y)
    let steps: [(CGEventType, TimeInterval)] = [(.mouseMoved, 0.05), (.leftMouseDown, 0.1), (.leftMouseUp, 0.05)]
    for (kind, after) in steps {
        let event = CGEvent(mouseEventSource: nil, mouseType: kind, mouseCursorPosition: point, mouseButton: .left)
        // Without it, the release is one of no click.
        if kind != .mouseMoved { event?.setIntegerValueField(.mouseEventClickState, value: 1) }
        event?.post(tap: .cghidEventTap)
        Thread.sleep(forTimeInterval: after)
    }
}

// MARK: - Dragging

/// Text that can be dragged away. The press is taken here: a text field would follow the mouse itself, and tell of no drag.
final class DragSource: NSTextField, NSDraggingSource {
    override func mouseDown(with event: NSEvent) {}

    func draggingSession(_ session: NSDraggingSession, sourceOperationMaskFor context: NSDraggingContext) -> NSDragOperation {
        .copy
    }

    override func mouseDragged(with event: NSEvent) {
        let item = NSDraggingItem(pasteboardWriter: stringValue as NSString)
        item.setDraggingFrame(bounds, contents: nil)
        beginDraggingSession(with: [item], event: event, source: self)
    }
}

/// Where text can be dropped; it shows and says what was.
final class DropTarget: NSTextField {
    override func draggingEntered(_ sender: NSDraggingInfo) -> NSDragOperation {
        .copy
    }

    override func performDragOperation(_ sender: NSDraggingInfo) -> Bool {
        guard let text = sender.draggingPasteboard.string(forType: .string) else { return false }
        stringValue = "dropped \(text)"
        setAccessibilityLabel(stringValue)
        NSAccessibility.post(element: self, notification: .valueChanged)
        say(stringValue)
        return true
    }
}

// MARK: - SwiftUI

/// The same kinds of widgets by the other toolkit: their elements are made in another way.
struct Modern: View {
    @State private var presses = 0
    @State private var on = false
    @State private var level = 0.0
    @State private var text = ""

    var body: some View {
        VStack(alignment: .leading) {
            Button("Modern Press") { presses += 1 }
            Text("modern \(presses)")
            Toggle("Modern Toggle", isOn: $on)
            Slider(value: $level, in: 0...100).accessibilityLabel("Modern Slider")
            TextField("", text: $text).accessibilityLabel("Modern Field")
            List(0..<5, id: \.self) { Text("item \($0)") }.accessibilityLabel("Modern List").frame(width: 220, height: 70)
        }
        .padding()
    }
}

// MARK: - The window

final class App: NSObject, NSApplicationDelegate, NSTableViewDataSource, NSTableViewDelegate {
    var window: NSWindow!
    var question: NSPanel!
    let label = NSTextField(labelWithString: "count 0")
    let seconds = NSTextField(labelWithString: "tick 0")
    var ticks = 0
    let target = NSButton(title: "Target", target: nil, action: nil)
    let rowsTable = NSTableView()
    let pairs = NSTableView()
    let spin = NSTextField()
    let stepper = NSStepper()
    var counted = 0
    var made = 0
    var rows: [String] = []

    func applicationDidFinishLaunching(_ notification: Notification) {
        NSApp.mainMenu = menus()
        window = NSWindow(
            contentRect: NSRect(x: 20, y: 80, width: 960, height: 600), styleMask: [.titled, .closable, .miniaturizable, .resizable],
            backing: .buffered, defer: false)
        window.title = "Test AppKit"
        let halves = NSStackView(views: [controls(), pages()])
        halves.alignment = .top
        halves.edgeInsets = NSEdgeInsets(top: 10, left: 10, bottom: 10, right: 10)
        window.contentView = halves
        for _ in 0..<3 { addRow() }
        Timer.scheduledTimer(withTimeInterval: 1, repeats: true) { [weak self] _ in
            guard let self else { return }
            self.ticks += 1
            self.seconds.stringValue = "tick \(self.ticks)"
        }
        window.makeKeyAndOrderFront(nil)
        NSApp.activate(ignoringOtherApps: true)
        // Whoever reads this line may ask for the window: it is there when the loop comes round.
        DispatchQueue.main.async { say("ready") }
    }

    func applicationShouldTerminateAfterLastWindowClosed(_ sender: NSApplication) -> Bool { true }

    func menus() -> NSMenu {
        let bar = NSMenu()
        for (title, items) in [("AxdTest", ["About AxdTest"]), ("File", ["New", "Open", "Quit"]), ("Help", ["About"])] {
            let menu = NSMenu(title: title)
            for item in items {
                let entry = NSMenuItem(title: item, action: #selector(choose(_:)), keyEquivalent: "")
                entry.target = self
                menu.addItem(entry)
            }
            let top = NSMenuItem(title: title, action: nil, keyEquivalent: "")
            top.submenu = menu
            bar.addItem(top)
        }
        // Copy and paste are commands of a menu; without it their keys do nothing.
        let edit = NSMenu(title: "Edit")
        for (title, action, key) in [
            ("Cut", #selector(NSText.cut(_:)), "x"), ("Copy", #selector(NSText.copy(_:)), "c"),
            ("Paste", #selector(NSText.paste(_:)), "v"), ("Select All", #selector(NSText.selectAll(_:)), "a"),
        ] {
            edit.addItem(NSMenuItem(title: title, action: action, keyEquivalent: key))
        }
        let top = NSMenuItem(title: "Edit", action: nil, keyEquivalent: "")
        top.submenu = edit
        bar.insertItem(top, at: 2)
        return bar
    }

    @objc func choose(_ item: NSMenuItem) {
        say("chose \(item.title)")
        if item.title == "Quit" { NSApp.terminate(nil) }
    }

    func button(_ title: String, _ action: Selector) -> NSButton {
        NSButton(title: title, target: self, action: action)
    }

    func named<V: NSView>(_ view: V, _ name: String) -> V {
        view.setAccessibilityLabel(name)
        return view
    }

    func field(_ name: String, _ field: NSTextField = NSTextField(), _ width: CGFloat = 200) -> NSTextField {
        field.widthAnchor.constraint(equalToConstant: width).isActive = true
        return named(field, name)
    }

    func controls() -> NSView {
        let check = NSButton(checkboxWithTitle: "Check", target: nil, action: nil)
        let toggle = NSButton(title: "Toggle", target: nil, action: nil)
        toggle.setButtonType(.pushOnPushOff)
        let radios = ["Red", "Green", "Blue"].map { NSButton(radioButtonWithTitle: $0, target: self, action: #selector(radio(_:))) }
        radios[0].state = .on
        let slider = NSSlider(value: 0, minValue: 0, maxValue: 100, target: nil, action: nil)
        slider.widthAnchor.constraint(equalToConstant: 200).isActive = true
        stepper.maxValue = 100
        stepper.target = self
        stepper.action = #selector(step)
        spin.stringValue = "0"
        let combo = NSPopUpButton()
        combo.addItems(withTitles: ["one", "two", "three"])
        let progress = NSProgressIndicator()
        progress.isIndeterminate = false
        let more = NSButton(title: "", target: self, action: #selector(disclose(_:)))
        more.setButtonType(.pushOnPushOff)
        more.bezelStyle = .disclosure
        hidden.isHidden = true
        let source = DragSource(labelWithString: "Drag source")
        let drop = DropTarget(labelWithString: "Drop target")
        drop.registerForDraggedTypes([.string])
        let halves = NSStackView(views: [
            column([
                button("Press", #selector(count)), label, seconds, check, toggle, named(NSSwitch(), "Switch"),
                NSStackView(views: radios), field("Entry"), field("Password", NSSecureTextField()), named(slider, "Slider"),
                NSStackView(views: [field("Spin", spin, 120), named(stepper, "Spin")]), named(combo, "Combo"),
            ]),
            column([
                named(progress, "Progress"), named(more, "More"), hidden, target, button("Enable/Disable", #selector(enable)),
                button("Dialog", #selector(ask)), source, drop, NSHostingView(rootView: Modern()),
            ]),
        ])
        halves.alignment = .top
        return halves
    }

    func column(_ views: [NSView]) -> NSView {
        let column = NSStackView(views: views)
        column.orientation = .vertical
        column.alignment = .leading
        column.widthAnchor.constraint(equalToConstant: 240).isActive = true
        return column
    }

    let hidden = NSTextField(labelWithString: "hidden until expanded")

    func pages() -> NSView {
        let tabs = NSTabView()
        for (title, view) in [("List", listPage()), ("Table", tablePage()), ("Text", textPage())] {
            let item = NSTabViewItem(identifier: title)
            item.label = title
            item.view = view
            tabs.addTabViewItem(item)
        }
        tabs.widthAnchor.constraint(equalToConstant: 400).isActive = true
        tabs.heightAnchor.constraint(equalToConstant: 560).isActive = true
        return tabs
    }

    func scrolled(_ view: NSView, _ height: CGFloat) -> NSScrollView {
        let scroll = NSScrollView()
        scroll.documentView = view
        scroll.hasVerticalScroller = true
        scroll.heightAnchor.constraint(equalToConstant: height).isActive = true
        scroll.widthAnchor.constraint(equalToConstant: 360).isActive = true
        return scroll
    }

    func listPage() -> NSView {
        let buttons = NSStackView(views: [
            button("Add", #selector(addRow)), button("Remove", #selector(removeRow)), button("Rename", #selector(renameRow)),
            button("Reorder", #selector(reorderRows)),
        ])
        rowsTable.addTableColumn(NSTableColumn(identifier: .init("row")))
        rowsTable.headerView = nil
        rowsTable.dataSource = self
        rowsTable.delegate = self
        rowsTable.setAccessibilityLabel("Rows")
        let page = NSStackView(views: [buttons, scrolled(rowsTable, 420)])
        page.orientation = .vertical
        return page
    }

    func tablePage() -> NSView {
        for name in ["Key", "Value"] {
            let column = NSTableColumn(identifier: .init(name))
            column.title = name
            pairs.addTableColumn(column)
        }
        pairs.dataSource = self
        pairs.delegate = self
        pairs.setAccessibilityLabel("Table")
        return scrolled(pairs, 460)
    }

    func textPage() -> NSView {
        let text = NSTextView(frame: NSRect(x: 0, y: 0, width: 350, height: 440))
        text.string = "first line\nsecond line"
        text.setAccessibilityLabel("Notes")
        text.autoresizingMask = [.width]
        return scrolled(text, 460)
    }

    // MARK: What the widgets do

    @objc func count() {
        counted += 1
        label.stringValue = "count \(counted)"
    }

    @objc func radio(_ sender: NSButton) {}
    @objc func step() { spin.stringValue = "\(stepper.integerValue)" }
    @objc func disclose(_ sender: NSButton) { hidden.isHidden = sender.state == .off }
    @objc func enable() { target.isEnabled.toggle() }

    @objc func ask() {
        question = NSPanel(
            contentRect: NSRect(x: 0, y: 0, width: 320, height: 120), styleMask: [.titled], backing: .buffered, defer: false)
        question.title = "Question"
        let column = NSStackView(views: [
            NSTextField(labelWithString: "Sure?"),
            NSStackView(views: [button("Cancel", #selector(answer)), button("OK", #selector(answer))]),
        ])
        column.orientation = .vertical
        question.contentView = column
        question.center()
        // Within the action, as most apps do: who asked for it by accessibility has no answer until the panel is closed.
        NSApp.runModal(for: question)
    }

    @objc func answer() {
        NSApp.stopModal()
        question.orderOut(nil)
    }

    @objc func addRow() {
        made += 1
        rows.append("row \(made)")
        rowsTable.reloadData()
    }

    @objc func removeRow() {
        if !rows.isEmpty { rows.removeLast() }
        rowsTable.reloadData()
    }

    @objc func renameRow() {
        if !rows.isEmpty { rows[rows.count - 1] = "renamed" }
        rowsTable.reloadData()
    }

    @objc func reorderRows() {
        if let last = rows.popLast() { rows.insert(last, at: 0) }
        rowsTable.reloadData()
    }

    func numberOfRows(in table: NSTableView) -> Int {
        table === rowsTable ? rows.count : 20
    }

    func tableView(_ table: NSTableView, viewFor column: NSTableColumn?, row: Int) -> NSView? {
        if table === rowsTable { return NSTextField(labelWithString: rows[row]) }
        return NSTextField(labelWithString: column?.title == "Key" ? "r\(row)" : "v\(row)")
    }
}

@main
enum Main {
    static func main() {
        setvbuf(stdout, nil, _IOLBF, 0)
        let words = CommandLine.arguments
        if words.contains("--held") { return printHeld() }
        if words.count == 4, words[1] == "--click", let x = Double(words[2]), let y = Double(words[3]) { return click(x, y) }
        let app = NSApplication.shared
        let delegate = App()
        app.delegate = delegate
        app.setActivationPolicy(.regular)
        withExtendedLifetime(delegate) { app.run() }
    }
}
