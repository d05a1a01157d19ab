"""Tests of what reads Rust, Apple's metadata and Mach-O facts, and of whether a wrong declaration is found.

    python3 -m unittest scripts/macos/test_ladder.py

With AXD_PYOBJC, the folder of pyobjc's wheels, and AXD_CRATES, faults are also seeded into the real declarations, one at a time.
"""
import hashlib
import os
import pathlib
import re
import struct
import sys
import types
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.modules.setdefault("lief", types.ModuleType("lief"))  # what is tested of check_macho is pure

import apple
import check_ffi
import check_macho
import rust_ffi
from apple import Code, PointerTo, Struct
from rust_ffi import Function, Name, Pointer

METADATA = '''
import objc, sys
misc = {}
misc.update({"Rect": objc.createStructType("Rect", b"{R=dd}", ["a", "b"])})
constants = """$kAXPrompt@^{__CFString=}$kCGName$"""
enums = """$kAXErrorFailure@-25200$kCGAll@4294967295$kCGHalf@0.5$"""
constants = constants + "$kCGSized@%s$" % (sel32or64("{CGSize=ff}", "{CGSize=dd}"),)
misc.update({"AXError": NewType("AXError", int), "kAXRoleAttribute": "AXRole"})
functions = {
    "AXCopy": (b"i^{__AXUIElement=}^{__CFString=}^@", "", {"arguments": {2: {"type_modifier": b"o"}}}),
    "AXObserve": (b"ii^?^^{__AXObserver=}", "", {"arguments": {1: {"callable": {"retval": {"type": b"v"},
        "arguments": {0: {"type": b"^{__AXObserver=}"}, 1: {"type": b"^v"}}}}}}),
    "CGMove": (sel32or64(b"i{CGPoint=ff}", b"i{CGPoint=dd}"),),
    "CGType": (b"v^{__CGEvent=}Q^T",),
}
cftypes = [("AXUIElementRef", b"^{__AXUIElement=}", "AXUIElementGetTypeID", None),
    ("AXObserverRef", b"^{__AXObserver=}", None, None), ("CFStringRef", b"^{__CFString=}", None, None),
    ("CGEventRef", b"^{__CGEvent=}", None, None)]
'''

RUST = '''
//! Words with 'quotes' and "strings" in them; fn fake();
use other::{base::{CFIndex, CFTypeRef}, array::*};
#[repr(C)] #[derive(Debug)] pub struct CGPoint { pub x: f64, pub y: f64 }
#[repr(C)] pub struct CGSize { pub width: f64, pub height: f64 }
pub enum Opaque {}
pub type AXUIElementRef = *mut Opaque;
pub type AXObserverRef = *mut Opaque;
pub type CFStringRef = *const Opaque;
pub type CFTypeRef = *const std::ffi::c_void;
pub type CGEventRef = *mut Opaque;
pub type AXError = i32;
pub type Callback = Option<unsafe extern "C" fn(observer: AXObserverRef, context: *mut c_void)>;
pub const kAXErrorFailure: AXError = -25_200;
pub const kCGAll: u32 = !0;
pub const kAXRoleAttribute: &str = "AXRole";
pub const AXCustom: &'static str = "AXCustom";
pub const OWN: usize = 3;
mod declared {
    #[cfg_attr(target_os = "macos", link(name = "CoreGraphics", kind = "framework"))]
    unsafe extern "C" {
        pub static kAXPrompt: CFStringRef;
        pub static kCGSized: CGSize;
        pub fn AXCopy(element: AXUIElementRef, name: CFStringRef, value: *mut CFTypeRef) -> AXError;
        pub fn AXObserve(pid: i32, callback: Callback, out: *mut AXObserverRef) -> AXError;
        pub fn CGMove(to: CGPoint) -> i32;
    }
}
fn inside() { extern "C" { fn CGType(event: CGEventRef, length: usize, text: *const u16); } }
'''


def faults(rust, crates=()):
    return check_ffi.check(apple.parse(METADATA), rust_ffi.parse(rust), dict(crates)).faults


class Rust(unittest.TestCase):
    def test_declarations_are_read_wherever_they_stand(self):
        told = rust_ffi.parse(RUST)
        self.assertEqual(set(told.functions), {"AXCopy", "AXObserve", "CGMove", "CGType"})
        self.assertEqual(told.functions["AXCopy"], Function(
            (Name("AXUIElementRef"), Name("CFStringRef"), Pointer(Name("CFTypeRef"))), Name("AXError")))
        self.assertEqual(told.types["Callback"], Function((Name("AXObserverRef"), Pointer(Name("c_void"))), rust_ffi.UNIT))
        self.assertEqual(told.structs["CGPoint"], [Name("f64"), Name("f64")])
        self.assertEqual(told.uses, [("other", "base", "CFIndex"), ("other", "base", "CFTypeRef"), ("other", "array", "*")])

    def test_values_are_computed(self):
        for text, value in [
            ("-25200", -25200), ("0x0001_0000", 65536), ("1 << 3", 8), ("(1 << 4) | 2", 18), ("!0", -1), ("2 as u32", 2),
            ("7u64", 7), ("0x1f", 31), ("0xffu8", 255), ('"a\\"b"', 'a"b'), ("0.5", 0.5), ("other()", None),
        ]:
            told = rust_ffi.parse(f"const k: u32 = {text};")
            self.assertEqual(told.constants["k"][1], value, text)
        told = rust_ffi.parse("const a: u32 = 4; const b: u32 = a << 1;")
        self.assertEqual(told.constants["b"][1], 8)

    def test_what_is_not_understood_is_an_error(self):
        for text in ['extern "C" { fn f(a: Vec<u8>); }', 'extern "C" { struct S; }']:
            with self.assertRaises(rust_ffi.NotUnderstood, msg=text):
                rust_ffi.parse(text)


class Apple(unittest.TestCase):
    def test_metadata_is_read_without_being_run(self):
        told = apple.parse(METADATA)
        self.assertEqual(told.strings, {"kAXRoleAttribute": "AXRole"})
        self.assertEqual(told.numbers, {"kAXErrorFailure": -25200, "kCGAll": 4294967295, "kCGHalf": 0.5})
        self.assertEqual(told.symbols["kCGName"], "@")
        self.assertEqual(told.symbols["kCGSized"], "{CGSize=dd}")
        self.assertEqual(told.functions["CGMove"], ("i{CGPoint=dd}", {}))
        self.assertEqual(told.functions["AXObserve"][1], {1: "v^{__AXObserver=}^v"})
        self.assertIn("AXUIElementGetTypeID", told.functions)

    def test_encodings_are_taken_apart(self):
        self.assertEqual(apple.decode("v^{__CGEvent=}Q^T@?"), [
            Code("v"), PointerTo(Struct("__CGEvent", ())), Code("Q"), PointerTo(Code("T")), Code("@")])
        self.assertEqual(apple.decode("r^{R={P=dd}[4C]b3}"), [PointerTo(Struct("R", (
            Struct("P", (Code("d"), Code("d"))), Struct("[]", (Code("C"),)), Code("b"))))])
        self.assertEqual(apple.decode("^?"), [PointerTo(Code("?"))])


class Comparison(unittest.TestCase):
    def test_what_is_right_has_no_faults(self):
        self.assertEqual(faults(RUST), [])

    def test_every_seeded_fault_is_found(self):
        for right, wrong, said in [
            ('"AXRole"', '"AXRoles"', "kAXRoleAttribute is 'AXRole'"),
            ("-25_200", "-25201", "kAXErrorFailure is -25200"),
            ("!0", "!0 << 1", "kCGAll"),
            ("kAXRoleAttribute", "kAXRolesAttribute", "have no string kAXRolesAttribute"),
            ("kCGAll", "kCGEvery", "have no number kCGEvery"),
            ("static kAXPrompt", "static kAXPrompts", "no symbol kAXPrompts"),
            ("kCGSized: CGSize", "kCGSized: f64", "kCGSized"),
            ("fn CGMove", "fn CGMoves", "no function CGMoves"),
            ("to: CGPoint", "to: CGPoint, really: bool", "takes 1 arguments, not 2"),
            ("y: f64 }", "y: f32 }", "argument 1 of CGMove"),
            ("value: *mut CFTypeRef", "value: CFTypeRef", "argument 3 of AXCopy"),
            ("value: *mut CFTypeRef", "value: *mut c_void", "argument 3 of AXCopy"),
            ("name: CFStringRef", "name: AXUIElementRef", "argument 2 of AXCopy"),
            ("value: *mut CFTypeRef) -> AXError", "value: *mut CFTypeRef) -> bool", "the result of AXCopy"),
            ("value: *mut CFTypeRef) -> AXError", "value: *mut CFTypeRef)", "the result of AXCopy"),
            ("pid: i32", "pid: i64", "argument 1 of AXObserve"),
            ("pid: i32", "pid: u32", "argument 1 of AXObserve"),
            ("context: *mut c_void)>", "context: u32)>", "argument 2 of the callback of AXObserve"),
            ("length: usize", "length: u32", "argument 2 of CGType"),
            ("text: *const u16", "text: *const u8", "argument 3 of CGType"),
        ]:
            self.assertIn(right, RUST)
            found = faults(RUST.replace(right, wrong))
            self.assertEqual(len(found), 1, f"{wrong}: {found}")
            self.assertIn(said, found[0])

    def test_what_comes_from_a_crate_is_looked_up_there(self):
        own = "pub use sys::{AXCopy, kAXErrorFailure};"
        crate = rust_ffi.parse(RUST)
        self.assertEqual(faults(own, {"sys": crate}), [])
        wrong = rust_ffi.parse(RUST.replace("-25_200", "-25_201").replace("value: *mut CFTypeRef", "value: CFTypeRef"))
        self.assertEqual(len(faults(own, {"sys": wrong})), 2)
        self.assertEqual(faults("use sys::AXNone;", {"sys": crate}), ["sys: has no AXNone"])

    def test_words_outside_the_declarations_are_looked_at_too(self):
        class Source:
            name = "roles.rs"

            def read_text():
                return 'match role {\n  "AXRole" | "AXCustom" => 1, // fine\n  "AXLisst" | "AXListed" => 2,\n}\n// "AXTold"\n#[cfg(test)]\n"AXMadeUp"\n'

        told, own = apple.parse(METADATA), rust_ffi.parse(RUST)
        found = list(check_ffi.loose_words([Source], told, own, {"AXListed"}))
        self.assertEqual([fault.split(";")[0] for fault in found], ["roles.rs:3: no header has AXLisst"])


class Members(unittest.TestCase):
    """What the core-graphics crate makes members of a type, and what stands in for it."""

    CRATE = """
        #[repr(u32)] pub enum CGEventType { LeftMouseDown = 1, LeftMouseUp }
        bitflags! { #[repr(C)] pub struct CGEventFlags: u64 { const CGEventFlagShift = 0x0002_0000; } }
        pub struct KeyCode;
        impl KeyCode { pub const TAB: u16 = 0x30; }
        #[repr(C)] pub enum CGEventSourceStateID { Private = -1, HIDSystemState = 1 }
    """

    class Apple:
        numbers = {"kCGEventLeftMouseDown": 1, "kCGEventLeftMouseUp": 2, "kCGEventFlagMaskShift": 0x20000,
                   "kCGEventSourceStatePrivate": -1, "kCGEventSourceStateHIDSystemState": 1}
        strings, functions, symbols, references = {}, {}, {}, {}

    def faults(self, stand_in):
        crate = rust_ffi.parse(self.CRATE)
        uses = "use crate_of::{CGEventType, CGEventFlags, KeyCode, CGEventSourceStateID};"
        return check_ffi.check(self.Apple, rust_ffi.parse(uses + stand_in), {"crate_of": crate}).faults

    def test_they_are_read(self):
        told = rust_ffi.parse(self.CRATE)
        self.assertEqual(told.members, {
            "CGEventType::LeftMouseDown": 1, "CGEventType::LeftMouseUp": 2, "CGEventFlags::CGEventFlagShift": 0x20000,
            "KeyCode::TAB": 0x30, "CGEventSourceStateID::Private": -1, "CGEventSourceStateID::HIDSystemState": 1})
        kinds = {name: kind.name for name, kind in told.types.items()}
        self.assertEqual(kinds, {"CGEventType": "u32", "CGEventFlags": "u64", "CGEventSourceStateID": "i32"})

    def test_a_stand_in_that_differs_is_found(self):
        self.assertEqual(self.faults(self.CRATE), [])
        for right, wrong, name in [
            ("LeftMouseUp", "LeftMouseUp = 3", "CGEventType::LeftMouseUp"), ("0x0002_0000", "0x0004_0000", "CGEventFlags::CGEventFlagShift"),
            ("0x30", "0x31", "KeyCode::TAB"), ("TAB", "TABB", "KeyCode::TABB"), ("HIDSystemState = 1", "HIDSystemState = 0", "HIDSystemState"),
        ]:
            found = self.faults(self.CRATE.replace(right, wrong))
            self.assertTrue(any(name in fault for fault in found), f"{wrong}: {found}")


class Real(unittest.TestCase):
    """One fault at a time in the backend's own declarations."""

    def setUp(self):
        backend = HERE.parent.parent / "daemon/macos/src/ffi"
        if "AXD_PYOBJC" not in os.environ or not backend.is_dir():
            self.skipTest("needs AXD_PYOBJC and the backend")
        self.apple = apple.read_all(pathlib.Path(os.environ["AXD_PYOBJC"]))
        folders = dict(word.split("=", 1) for word in os.environ.get("AXD_CRATES", "").split())
        self.crates = {
            name: rust_ffi.parse_files(sorted(pathlib.Path(folder).rglob("*.rs"))) for name, folder in folders.items()}
        self.text = "\n".join(path.read_text() for path in sorted(backend.glob("*.rs")))

    def faults(self, text):
        own = rust_ffi.parse(text)
        found = check_ffi.Check(self.apple, own, self.crates)
        found.declarations(own)
        return set(found.faults)

    def test_seeded_faults_are_found(self):
        before = self.faults(self.text)
        strings = re.findall(r'pub const (k\w+): &str = "(\w+)"', self.text)
        numbers = re.findall(r"pub const (k\w+): \w+ = (-?\d+);", self.text)
        functions = re.findall(r"pub fn (?!_)(\w+)\(\s*\w+: (\w+Ref)\b", self.text)
        self.assertTrue(len(strings) > 50 and len(numbers) > 20 and len(functions) > 20)
        seeds = [(f'{name}: &str = "{value}"', f'{name}: &str = "{value}s"', name) for name, value in strings]
        seeds += [(f" = {value};", f" = {int(value) + 1};", name, f"pub const {name}: ") for name, value in numbers]
        for right, wrong, name, *at in seeds:
            start = self.text.index(at[0]) if at else 0
            end = self.text.index(right, start)
            seeded = self.text[:end] + wrong + self.text[end + len(right):]
            self.assertTrue(any(name in fault for fault in self.faults(seeded) - before), f"{name}: {wrong}")
        for name, kind in functions:
            seeded = re.sub(rf"(pub fn {name}\(\s*\w+: ){kind}", r"\1f32", self.text, count=1)
            self.assertTrue(any(name in fault for fault in self.faults(seeded) - before), f"{name}({kind})")


class MachO(unittest.TestCase):
    RIGHT = {
        "cpu": "ARM64", "type": "EXECUTE", "platform": "MACOS", "minimum": (13, 0), "rpaths": [], "signature": "true",
        "libraries": ["/usr/lib/libSystem.B.dylib", "/System/Library/Frameworks/AppKit.framework/Versions/C/AppKit"],
    }

    def test_a_program_as_it_should_be_has_no_faults(self):
        self.assertEqual(check_macho.faults(self.RIGHT, (13, 0)), [])

    def test_each_fault_is_told(self):
        for change in [
            {"cpu": "X86_64"}, {"type": "DYLIB"}, {"platform": "IOS"}, {"minimum": (11, 0)}, {"rpaths": ["/opt/lib"]}, {"signature": "no"}, {"signature": "a false"},
            {"libraries": ["/usr/local/lib/libfoo.dylib"]}, {"libraries": ["@rpath/libbar.dylib"]},
            {"libraries": ["/System/Library/Frameworks/Contacts.framework/Versions/A/Contacts"]},
            {"libraries": ["/Library/Frameworks/AppKit.framework/AppKit"]},
        ]:
            self.assertEqual(len(check_macho.faults({**self.RIGHT, **change}, (13, 0))), 1, change)

    def test_a_signature_is_true_only_of_the_very_bytes(self):
        content = bytes(range(256)) * 40  # two pages and a half, of 4096 bytes
        hashes = b"".join(hashlib.sha256(content[at:at + 4096]).digest() for at in range(0, len(content), 4096))
        directory = struct.pack(">IIIIIIIIIBBBB", 0xFADE0C02, 0, 0x20400, 0x20002, 40, 0, 0, 3, len(content), 32, 2, 0, 12) + hashes
        blob = struct.pack(">IIIII", 0xFADE0CC0, 0, 1, 0, 20) + directory
        self.assertEqual(check_macho.signature(content, blob), "true")
        self.assertEqual(check_macho.signature(content[:-1] + b"x", blob), "a false")
        self.assertEqual(check_macho.signature(content, b""), "no")


if __name__ == "__main__":
    unittest.main()
