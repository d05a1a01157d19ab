#!/usr/bin/env python3
"""Holds the backend's foreign declarations against what pyobjc knows of Apple's headers.

    scripts/macos/check_ffi.py PYOBJC BACKEND [CRATE=FOLDER…]

PYOBJC is the folder of pyobjc's unpacked wheels, BACKEND that of the macOS backend, with its declarations in `ffi/`. What these
take from a CRATE is looked up in its sources. Every difference is printed with its place, and makes the exit code 1.
"""
import pathlib
import re
import sys

import apple
import rust_ffi
from apple import Code, PointerTo, Struct
from rust_ffi import Array, Function, Name, Pointer

# What pyobjc wraps by hand in a form of its own, or does not have; by the documentation of Apple's headers.
BY_HAND = {
    "AXValueCreate": "^{__AXValue=}I^v",  # const void *
    "AXValueGetValue": "Z^{__AXValue=}I^v",  # void *
    "CFRunLoopSourceCreate": "^{__CFRunLoopSource=}^{__CFAllocator=}q^{CFRunLoopSourceContext=}",
    "CFRunLoopTimerCreate": "^{__CFRunLoopTimer=}^{__CFAllocator=}ddQq^?^{CFRunLoopTimerContext=}",
    "CFDataGetBytePtr": "^C^{__CFData=}",
    "_AXUIElementGetWindow": "i^{__AXUIElement=}^I",  # in no header; in use since 10.5
    # Carbon's HIToolbox and CoreServices' UnicodeUtilities.h, which pyobjc leaves out.
    "IsSecureEventInputEnabled": "Z",
    "TISCopyCurrentKeyboardLayoutInputSource": "^v",
    "TISCopyCurrentASCIICapableKeyboardLayoutInputSource": "^v",
    "TISGetInputSourceProperty": "^v^v^{__CFString=}",
    "LMGetKbdType": "C",
    # IOKit's ps/IOPowerSources.h, which pyobjc leaves out.
    "IOPSCopyPowerSourcesInfo": "@",
    "IOPSGetProvidingPowerSourceType": "^{__CFString=}@",
    "UCKeyTranslate": "i^vSSIII^IQ^Q^T",
}
SYMBOLS_BY_HAND = {"kTISPropertyUnicodeKeyLayoutData": "@"}
NUMBERS_BY_HAND = {"kUCKeyActionDisplay": 3, "kUCKeyTranslateNoDeadKeysMask": 1}

# What the core-graphics crate makes members of a type, by the name that Apple has for each. Key codes are Carbon's, which
# pyobjc leaves out: of them it is only checked that those who declare them agree.
MEMBERS = {
    "CGEventType": lambda name: f"kCGEvent{name}",
    "CGMouseButton": lambda name: f"kCGMouseButton{name}",
    "CGEventTapLocation": lambda name: f"kCG{name}EventTap",
    "CGEventSourceStateID": lambda name: f"kCGEventSourceState{name}",
    "CGEventFlags": lambda name: name.replace("CGEventFlag", "kCGEventFlagMask"),
    "EventField": lambda name: "kCG" + name.title().replace("_", ""),
    "ScrollEventUnit": lambda name: f"kCGScrollEventUnit{name.title()}",
    "KeyCode": None,
}

# Apple's own names. Others are the backend's, and mean nothing to Apple.
APPLES = re.compile(r"_?(k?(AX|CF|CG|NS|TIS|UC|OS)[A-Z]|kUC|kTIS|AX[A-Z]|IsSecure|LM|UC|TIS)")

INTEGERS = {
    "i8": "c", "u8": "C", "i16": "s", "u16": "S", "i32": "i", "u32": "I", "i64": "q", "u64": "Q",
    "isize": "q", "usize": "Q", "f32": "f", "f64": "d", "bool": "B",
    "c_char": "c", "c_schar": "c", "c_uchar": "C", "c_short": "s", "c_ushort": "S", "c_int": "i", "c_uint": "I",
    "c_long": "q", "c_ulong": "Q", "c_longlong": "q", "c_ulonglong": "Q", "c_float": "f", "c_double": "d",
    "pid_t": "i", "()": "v", "c_void": "v",
}
# Which plain Rust types an encoding may stand for.
ALIKE = {
    "Z": "BCc", "B": "BC", "c": "cB", "C": "CB", "T": "S", "t": "cC", "z": "c", "l": "i", "L": "I",
}


class Check:
    def __init__(self, apples, own, crates):
        self.apple, self.own = apples, own
        self.known = rust_ffi.Declarations()
        for crate in crates.values():
            self.known.add(crate)
        self.known.add(own)
        self.faults, self.counted = [], {"strings": 0, "numbers": 0, "functions": 0, "symbols": 0, "key codes": 0, "by hand": 0, "in no header": 0}

    def fault(self, place, text):
        self.faults.append(f"{place}: {text}")

    def agreed(self, what):
        self.counted[what] += 1

    # What is declared.

    def declarations(self, told):
        """Everything in these declarations that bears a name of Apple's."""
        for name in told.functions:
            self.function(name, told)
        for name, kind in told.statics.items():
            self.symbol(name, kind, told.places[name])
        for name, (kind, value) in told.constants.items():
            if APPLES.match(name):
                self.constant(name, kind, value, told.places[name])
        for name, value in told.members.items():
            self.member(name, value, told.places[name])

    def uses(self, told, crates):
        """Everything that these declarations take from a crate."""
        for path in told.uses:
            if path[0] not in crates:
                continue
            crate, name = crates[path[0]], path[-1]
            if name == "*":
                self.declarations(crate)
            elif name in crate.functions:
                self.function(name, crate)
            elif name in crate.statics:
                self.symbol(name, crate.statics[name], crate.places[name])
            elif name in crate.constants:
                self.constant(name, *crate.constants[name], crate.places[name])
            elif any(member.startswith(f"{name}::") for member in crate.members):
                # Of the crate's members those that the stand-in has too: the others are not used.
                for member in (member for member in crate.members if member.startswith(f"{name}::") and member in told.members):
                    self.member(member, crate.members[member], crate.places[member])
                    if crate.members[member] != told.members[member]:
                        self.fault(told.places[member], f"{member} is {crate.members[member]} in {path[0]}, not {told.members[member]}")
                for member in told.members:
                    if member.startswith(f"{name}::") and member not in crate.members:
                        self.fault(told.places[member], f"{path[0]} has no {member}")
            elif name not in crate.types and name not in crate.structs and name not in crate.opaque:
                self.fault(path[0], f"has no {name}")

    def constant(self, name, kind, value, place):
        if isinstance(value, str):
            if name in self.apple.strings:
                if self.apple.strings[name] != value:
                    return self.fault(place, f"{name} is {self.apple.strings[name]!r}, not {value!r}")
                return self.agreed("strings")
            if name == value:  # by custom, how what is in no header is named
                return self.agreed("in no header")
            return self.fault(place, f"Apple's headers have no string {name}; name it {value} if apps use it nevertheless")
        expected = NUMBERS_BY_HAND.get(name, self.apple.numbers.get(name))
        if expected is None:
            return self.fault(place, f"Apple's headers have no number {name}")
        if value is None:
            return self.fault(place, f"the value of {name} cannot be read")
        bits = {"c": 8, "s": 16, "i": 32, "q": 64}.get((self.plain(kind) or "q").lower(), 64)
        if isinstance(expected, float) or isinstance(value, float):
            same = float(expected) == float(value)
        else:
            same = (expected - value) % (1 << bits) == 0
        if not same:
            return self.fault(place, f"{name} is {expected}, not {value}")
        self.agreed("by hand" if name in NUMBERS_BY_HAND else "numbers")

    def member(self, name, value, place):
        owner, member = name.split("::")
        if owner not in MEMBERS:
            return self.fault(place, f"what Apple calls {name} is not known; add it to MEMBERS")
        if MEMBERS[owner] is None:
            return self.agreed("key codes")
        known = MEMBERS[owner](member)
        expected = self.apple.numbers.get(known)
        if expected is None:
            return self.fault(place, f"Apple's headers have no number {known}, for {name}")
        # Masks may be negative in the metadata, which has no unsigned numbers.
        if (expected - value) % (1 << 32):
            return self.fault(place, f"{known} is {expected}, and {name} {value}")
        self.agreed("numbers")

    def symbol(self, name, kind, place):
        encoding = SYMBOLS_BY_HAND.get(name, self.apple.symbols.get(name))
        if encoding is None:
            return self.fault(place, f"Apple's frameworks have no symbol {name}")
        wrong = self.differs(kind, apple.decode(encoding)[0])
        if wrong:
            return self.fault(place, f"{name}: {wrong}")
        self.agreed("by hand" if name in SYMBOLS_BY_HAND else "symbols")

    def function(self, name, told):
        place = told.places[name]
        if name in BY_HAND:
            encoding, callbacks = BY_HAND[name], {}
        elif name in self.apple.functions:
            encoding, callbacks = self.apple.functions[name]
        else:
            return self.fault(place, f"Apple's frameworks have no function {name}")
        before = len(self.faults)
        self.signature(name, told.functions[name], apple.decode(encoding), callbacks, place)
        if len(self.faults) == before:
            self.agreed("by hand" if name in BY_HAND else "functions")

    def signature(self, name, declared, encoded, callbacks, place):
        result, *arguments = encoded
        wrong = self.differs(declared.result, result)
        if wrong:
            self.fault(place, f"the result of {name}: {wrong}")
        if len(declared.arguments) != len(arguments):
            return self.fault(place, f"{name} takes {len(arguments)} arguments, not {len(declared.arguments)}")
        for at, (rust, expected) in enumerate(zip(declared.arguments, arguments)):
            wrong = self.differs(rust, expected)
            if wrong:
                self.fault(place, f"argument {at + 1} of {name}: {wrong}")
            elif at in callbacks:
                callback = self.resolved(rust)
                if isinstance(callback, Function):
                    self.signature(f"the callback of {name}", callback, apple.decode(callbacks[at]), {}, place)

    # Types.

    def resolved(self, kind):
        """The type behind its other names, as far as there is one."""
        seen = set()
        while isinstance(kind, Name) and kind.name in self.known.types and kind.name not in seen:
            seen.add(kind.name)
            kind = self.known.types[kind.name]
        return kind

    def plain(self, kind):
        kind = self.resolved(kind)
        return INTEGERS.get(kind.name) if isinstance(kind, Name) else None

    def differs(self, rust, expected):
        """Why the Rust type is not the expected one; None if it is."""
        told = f"{shown(expected)} is declared as {written(rust)}"
        if isinstance(rust, Name) and rust.name in self.apple.references:
            # A CoreFoundation object by its own name. pyobjc calls many of them just «an object».
            reference = apple.decode(self.apple.references[rust.name])[0]
            same = expected == Code("@") or (
                isinstance(expected, PointerTo) and isinstance(expected.to, Struct) and expected.to.name == reference.to.name)
            return None if same else told
        if isinstance(rust, Name) and rust.name == "CFTypeRef":
            return None if expected in (Code("@"), PointerTo(Code("v"))) else told
        behind = self.resolved(rust)
        if isinstance(behind, Function):
            return None if expected == PointerTo(Code("?")) else told
        if isinstance(behind, Pointer):
            if isinstance(expected, Code):
                text = expected.letter == "*" and self.plain(behind.to) in ("c", "C")
                thing = expected.letter == "@" and (self.is_opaque(behind.to) or self.plain(behind.to) == "v")
                return None if text or thing else told
            if not isinstance(expected, PointerTo):
                return told
            if isinstance(expected.to, Struct) and not expected.to.fields:
                return None if self.is_opaque(behind.to) or self.names(behind.to, expected.to) else told
            return told if self.differs(behind.to, expected.to) else None
        if isinstance(behind, Name) and behind.name in self.known.structs:
            fields = self.known.structs[behind.name]
            if not isinstance(expected, Struct) or len(fields) != len(expected.fields):
                return told
            return told if any(self.differs(*pair) for pair in zip(fields, expected.fields)) else None
        code = self.plain(behind)
        if code is None or isinstance(behind, Array) or not isinstance(expected, Code):
            return told
        return None if code == expected.letter or code in ALIKE.get(expected.letter, "") else told

    def is_opaque(self, kind):
        return isinstance(kind, Name) and kind.name in self.known.opaque

    def names(self, kind, struct):
        return isinstance(kind, Name) and kind.name.strip("_") == struct.name.strip("_")


def shown(expected):
    if isinstance(expected, Code):
        words = {"v": "nothing", "@": "an object", "Z": "a Boolean", "B": "a bool", "*": "a C string", "?": "anything"}
        sizes = {letter: name for name, letter in INTEGERS.items() if name[0] in "iuf"}
        return words.get(expected.letter) or sizes.get(expected.letter, expected.letter)
    if isinstance(expected, PointerTo):
        return "a function" if expected.to == Code("?") else f"a pointer to {shown(expected.to)}"
    return f"the struct {expected.name}"


def written(kind):
    if isinstance(kind, Pointer):
        return f"*{written(kind.to)}"
    if isinstance(kind, Function):
        return f"fn({', '.join(map(written, kind.arguments))}) -> {written(kind.result)}"
    return kind.name if isinstance(kind, Name) else str(kind)


WORD = re.compile(r'"(AX[A-Z][A-Za-z0-9]+)"')


def loose_words(sources, apples, own, listed):
    """Words of the accessibility interface that stand in the sources as plain text and that nobody knows."""
    known = set(apples.strings.values()) | {value for _, value in own.constants.values() if isinstance(value, str)} | listed
    for path in sources:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if line.startswith("#[cfg(test)]"):
                break  # tests make words up
            if line.lstrip().startswith("//"):
                continue
            for word in WORD.findall(line):
                if word not in known:
                    yield f"{path.name}:{number}: no header has {word}; if apps use it nevertheless, add it to unlisted.txt"


def listed_words(path):
    return {line.split()[0] for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")}


def check(apples, own, crates):
    found = Check(apples, own, crates)
    found.declarations(own)
    found.uses(own, crates)
    return found


def main(pyobjc, backend, *crates):
    pyobjc, backend = pathlib.Path(pyobjc), pathlib.Path(backend)
    apples = apple.read_all(pyobjc)
    own = rust_ffi.parse_files(sorted((backend / "ffi").glob("*.rs")))
    folders = dict(crate.split("=", 1) for crate in crates)
    told = {name: rust_ffi.parse_files(sorted(pathlib.Path(folder).rglob("*.rs"))) for name, folder in folders.items()}
    found = check(apples, own, told)
    sources = [path for path in sorted(backend.rglob("*.rs")) if path.parent.name != "ffi"]
    unlisted = listed_words(pathlib.Path(__file__).with_name("unlisted.txt"))
    found.faults += loose_words(sources, apples, own, unlisted)
    for fault in found.faults:
        print(fault)
    print("agree: " + ", ".join(f"{count} {what}" for what, count in found.counted.items()))
    if not found.counted["functions"] or not found.counted["strings"]:
        print(f"{backend}/ffi declares nothing that could be held against anything")
        return 1
    return 1 if found.faults else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
