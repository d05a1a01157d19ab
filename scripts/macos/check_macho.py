#!/usr/bin/env python3
"""Looks at programs that were linked for macOS, and says what is wrong with them.

    check_macho.py MINIMUM_OS PROGRAM…

Each is to be an arm64 program for macOS that runs from MINIMUM_OS on, loads nothing but the system's own libraries and the
frameworks that are known here, and has a signature (arm64 runs nothing without; the linker's own, ad hoc, is enough).
"""
import sys

import lief

LIBRARIES = {"/usr/lib/libSystem.B.dylib", "/usr/lib/libobjc.A.dylib", "/usr/lib/libiconv.2.dylib"}
# What axd may load. Each was there, at this path, in MINIMUM_OS.
FRAMEWORKS = {
    "AppKit", "ApplicationServices", "Carbon", "CoreFoundation", "CoreGraphics", "CoreMedia", "Foundation", "ScreenCaptureKit",
}


def framework(path):
    """The framework's name, if the path is one of the system's."""
    before, _, after = path.partition(".framework/")
    return before.rsplit("/", 1)[1] if after and before.startswith("/System/Library/Frameworks/") else None


def faults(facts, minimum):
    """What is wrong with a program of which these facts are known."""
    found = []
    if facts["cpu"] != "ARM64":
        found.append(f"is for {facts['cpu']}, not for ARM64")
    if facts["type"] != "EXECUTE":
        found.append(f"is no program ({facts['type']})")
    if facts["platform"] != "MACOS":
        found.append(f"is for {facts['platform']}, not for macOS")
    if facts["minimum"] != minimum:
        found.append(f"runs from macOS {dotted(facts['minimum'])} on, not {dotted(minimum)}")
    for library in facts["libraries"]:
        if library not in LIBRARIES and framework(library) not in FRAMEWORKS:
            found.append(f"loads {library}")
    if facts["rpaths"]:
        found.append(f"looks for libraries in {', '.join(facts['rpaths'])}")
    if not facts["signed"]:
        found.append("has no signature")
    return found


def dotted(version):
    return ".".join(map(str, version))


def facts(path):
    binary = lief.MachO.parse(str(path)).at(0)
    build = binary.build_version
    return {
        "cpu": binary.header.cpu_type.name,
        "type": binary.header.file_type.name,
        "platform": build.platform.name if build else "an unknown system",
        "minimum": tuple(build.minos[:2]) if build else (0, 0),
        "libraries": [library.name for library in binary.libraries],
        "rpaths": [command.path for command in binary.commands if isinstance(command, lief.MachO.RPathCommand)],
        "signed": binary.has_code_signature and binary.code_signature.data_size > 0,
    }


def main(minimum, *programs):
    minimum = tuple(map(int, minimum.split(".")))
    failed = False
    for program in programs:
        told = facts(program)
        name = program.rsplit("/", 1)[-1]
        for fault in faults(told, minimum):
            failed = True
            print(f"{name} {fault}")
        if name in ("ax", "axd"):
            loads = sorted(framework(library) or library.rsplit("/", 1)[1] for library in told["libraries"])
            print(f"{name}: macOS {dotted(told['minimum'])} or newer, signed ad hoc, loads {', '.join(loads)}")
    print(f"{len(programs)} programs linked")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
