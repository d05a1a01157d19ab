#!/usr/bin/env python3
"""Looks at programs that were linked for macOS, and says what is wrong with them.

    check_macho.py MINIMUM_OS PROGRAM…

Each is to be an arm64 program for macOS that runs from MINIMUM_OS on, loads nothing but the system's own libraries and the
frameworks that are known here, and has a signature that is true (arm64 runs nothing without; the linker's own, ad hoc, is enough).
"""
import hashlib
import struct
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
    if facts["signature"] != "true":
        found.append(f"has {facts['signature']} signature")
    return found


def signature(content, blob):
    """Whether what a program's signature says of its pages is `true`: «no» signature, one of «another» kind, a «false» one.

    The layout is that of xnu's osfmk/kern/cs_blobs.h: an index of blobs, in it a directory of the hashes of all pages.
    """
    if len(blob) < 12 or struct.unpack_from(">I", blob)[0] != 0xFADE0CC0:
        return "no"
    for at in range(struct.unpack_from(">I", blob, 8)[0]):
        _, start = struct.unpack_from(">II", blob, 12 + 8 * at)
        fields = struct.unpack_from(">IIIIIIIIIBBBB", blob, start)
        magic, _, _, _, hashes, _, _, count, limit, size, kind, _, page = fields
        if magic != 0xFADE0C02:
            continue
        if kind != 2 or size != 32 or count != -(-limit // (1 << page)):
            return "another"
        pages = (content[from_:min(from_ + (1 << page), limit)] for from_ in range(0, limit, 1 << page))
        told = (blob[start + hashes + size * n:start + hashes + size * (n + 1)] for n in range(count))
        return "true" if all(hashlib.sha256(part).digest() == hash_ for part, hash_ in zip(pages, told)) else "a false"
    return "no"


def dotted(version):
    return ".".join(map(str, version))


def facts(path):
    binary = lief.MachO.parse(str(path)).at(0)
    build = binary.build_version
    content, blob = open(path, "rb").read(), b""
    if binary.has_code_signature:
        start = binary.code_signature.data_offset
        blob = content[start:start + binary.code_signature.data_size]
    return {
        "cpu": binary.header.cpu_type.name,
        "type": binary.header.file_type.name,
        "platform": build.platform.name if build else "an unknown system",
        "minimum": tuple(build.minos[:2]) if build else (0, 0),
        "libraries": [library.name for library in binary.libraries],
        "rpaths": [command.path for command in binary.commands if isinstance(command, lief.MachO.RPathCommand)],
        "signature": signature(content, blob),
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
