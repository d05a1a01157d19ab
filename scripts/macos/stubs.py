#!/usr/bin/env python3
"""Writes link stubs (`.tbd`) of macOS's libraries.

    stubs.py PYOBJC ZIG SDK

A framework's stub lists what pyobjc's metadata names, and what the extension modules in pyobjc's wheels import from it:
those were linked on a Mac. libSystem is zig's. None of it is taken from what axd uses; what had to be added by hand is below.
"""
import pathlib
import re
import sys

import apple
import lief

# In the frameworks, though neither in pyobjc's metadata nor among its imports.
BY_HAND = {
    # In no header; what window tools have used since 10.5.
    "ApplicationServices": ["_AXUIElementGetWindow"],
    # HIToolbox and CoreServices, which pyobjc leaves out.
    "Carbon": [
        "IsSecureEventInputEnabled", "LMGetKbdType", "TISCopyCurrentKeyboardLayoutInputSource",
        "TISCopyCurrentASCIICapableKeyboardLayoutInputSource", "TISGetInputSourceProperty",
        "kTISPropertyUnicodeKeyLayoutData", "kTISPropertyInputSourceID", "kTISNotifySelectedKeyboardInputSourceChanged",
        "UCKeyTranslate",
    ],
    # ps/IOPowerSources.h; pyobjc leaves IOKit out.
    "IOKit": ["IOPSCopyPowerSourcesInfo", "IOPSGetProvidingPowerSourceType"],
    "CoreFoundation": ["kCFTypeArrayCallBacks", "kCFTypeDictionaryKeyCallBacks", "kCFTypeDictionaryValueCallBacks", "kCFNull"],
    # The runtime of Objective-C: objc/runtime.h, objc/message.h, and clang's documentation of ARC.
    "objc": [
        "objc_claimAutoreleasedReturnValue", "objc_retainAutoreleasedReturnValue", "objc_retainAutoreleaseReturnValue",
        "objc_autoreleaseReturnValue", "objc_retainAutorelease", "objc_initWeak", "objc_copyWeak", "objc_moveWeak", "objc_getClass",
        "objc_getMetaClass", "objc_getProtocol", "objc_opt_self", "objc_opt_class", "class_conformsToProtocol", "class_getProperty",
        "class_respondsToSelector", "class_getMethodImplementation", "class_createInstance", "ivar_getTypeEncoding",
        "method_getImplementation", "method_getNumberOfArguments", "method_copyReturnType", "method_copyArgumentType",
        "method_exchangeImplementations", "object_getIvarLayout", "property_copyAttributeList", "protocol_isEqual",
        "protocol_copyProtocolList", "class_getImageName", "objc_getClassList", "objc_setHook_getClass",
        # On Intel, for what is too large for a register, and for long doubles.
        "objc_msgSend_stret", "objc_msgSendSuper_stret", "objc_msgSend_fpret",
    ],
}
# Under this name in the SDK; the framework's umbrella exports what its parts have.
UMBRELLA = {"Carbon": "/System/Library/Frameworks/Carbon.framework/Versions/A/Carbon"}


def imports(pyobjc):
    """What the wheels' own modules import: {install name: symbols, without the underscore that C adds}."""
    found = {}
    for path in sorted(pyobjc.rglob("*.so")):
        if ".dSYM" in path.parts or any(part.endswith(".dSYM") for part in path.parts):
            continue
        # Kept in a name: its slices do not outlive it.
        fat = lief.MachO.parse(str(path))
        for binary in fat:
            for library in binary.libraries:
                found.setdefault(library.name, set())
            for symbol in binary.imported_symbols:
                if symbol.has_binding_info and symbol.binding_info.has_library and symbol.name.startswith("_"):
                    found[symbol.binding_info.library.name].add(symbol.name[1:])
    return found


def stub(install_name, symbols):
    quoted = ", ".join(sorted(f"'_{symbol}'" for symbol in symbols))
    return (
        "--- !tapi-tbd\ntbd-version: 4\ntargets: [ arm64-macos, x86_64-macos ]\n"
        f"install-name: '{install_name}'\nexports:\n  - targets: [ arm64-macos, x86_64-macos ]\n    symbols: [ {quoted} ]\n...\n"
    )


def for_arm64(text):
    """A stub as the linker can read it. Apple's newest variants of arm64 are not known to it; what is exported for these is
    exported for arm64 as well."""
    def known(match):
        targets = [re.sub(r"^arm64e[\w.]*-", "arm64-", target.strip()) for target in match[2].split(",")]
        return f"{match[1]}[ {', '.join(dict.fromkeys(targets))} ]"

    return re.sub(r"(targets:\s*)\[(.*?)\]", known, text, flags=re.S)


def main(pyobjc, zig, sdk):
    pyobjc, zig, sdk = map(pathlib.Path, (pyobjc, zig, sdk))
    linked = imports(pyobjc)
    for framework in [*apple.FRAMEWORKS, "Carbon", "IOKit"]:
        symbols = set(BY_HAND.get(framework, []))
        if framework in apple.FRAMEWORKS:
            told = apple.read(pyobjc, framework)
            symbols |= told.functions.keys() | told.symbols.keys()
        wanted = f"/{framework}.framework/"
        install_name = next((name for name in linked if wanted in name), None) or UMBRELLA.get(
            framework, f"/System/Library/Frameworks/{framework}.framework/Versions/A/{framework}")
        symbols |= linked.get(install_name, set())
        folder = sdk / "System/Library/Frameworks" / f"{framework}.framework"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{framework}.tbd").write_text(stub(install_name, symbols))
    libraries = sdk / "usr/lib"
    libraries.mkdir(parents=True, exist_ok=True)
    objc = "/usr/lib/libobjc.A.dylib"
    (libraries / "libobjc.tbd").write_text(stub(objc, linked[objc] | set(BY_HAND["objc"])))
    (libraries / "libSystem.tbd").write_text(for_arm64((zig / "lib/libc/darwin/libSystem.tbd").read_text()))
    (libraries / "libiconv.tbd").write_text(stub("/usr/lib/libiconv.2.dylib", ["iconv", "iconv_open", "iconv_close"]))
    for alias in ["libc", "libm"]:  # as in Apple's SDK
        link = libraries / f"{alias}.tbd"
        if not link.is_symlink():
            link.symlink_to("libSystem.tbd")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
