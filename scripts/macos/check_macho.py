#!/usr/bin/env python3
"""Looks at programs and bundles that were made for macOS, and says what is wrong with them.

    check_macho.py MINIMUM_OS CPUS PROGRAM_OR_BUNDLE…

Each program is to have exactly these CPUS (arm64, x86_64, or both with a comma between), to run from MINIMUM_OS on, to load
nothing but the system's own libraries and the frameworks that are known here, and to have a signature that is true: arm64 runs
nothing without; the linker's own, ad hoc, is enough. A bundle is to have a signature that holds its Info.plist and its resources.

What signs is scripts/macos/sign.py; nothing of it is used here.
"""
import hashlib
import pathlib
import plistlib
import struct
import sys

import lief

LIBRARIES = {"/usr/lib/libSystem.B.dylib", "/usr/lib/libobjc.A.dylib", "/usr/lib/libiconv.2.dylib"}
# What axd may load. Each was there, at this path, in MINIMUM_OS.
FRAMEWORKS = {
    "AppKit", "ApplicationServices", "Carbon", "CoreFoundation", "CoreGraphics", "CoreMedia", "Foundation", "IOKit", "ScreenCaptureKit",
}
# How deep in the directory of a signature the hash of each of these is, counted back from that of the first page.
INFO_PLIST, RESOURCES = 1, 3
# What Apple's loader maps in pages of 16 kB, and of 4 kB.
ALIGNED = {"ARM64": 1 << 14, "X86_64": 1 << 12}


def framework(path):
    """The framework's name, if the path is one of the system's."""
    before, _, after = path.partition(".framework/")
    return before.rsplit("/", 1)[1] if after and before.startswith("/System/Library/Frameworks/") else None


def faults(facts, minimum, cpu="ARM64"):
    """What is wrong with a program for one processor, of which these facts are known."""
    found = []
    if facts["cpu"] != cpu:
        found.append(f"is for {facts['cpu']}, not for {cpu}")
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


def directory(blob):
    """Where in a signature the directory of hashes is, and its fields; None if it has none.

    The layout is that of xnu's osfmk/kern/cs_blobs.h: an index of blobs, in it a directory of the hashes of all pages.
    """
    if len(blob) < 12 or struct.unpack_from(">I", blob)[0] != 0xFADE0CC0:
        return None
    for at in range(struct.unpack_from(">I", blob, 8)[0]):
        _, start = struct.unpack_from(">II", blob, 12 + 8 * at)
        fields = struct.unpack_from(">IIIIIIIIIBBBB", blob, start)
        if fields[0] == 0xFADE0C02:
            return start, fields
    return None


def signature(content, blob):
    """Whether what a program's signature says of its pages is `true`: «no» signature, one of «another» kind, a «false» one."""
    found = directory(blob)
    if not found:
        return "no"
    start, (_, _, _, _, hashes, _, _, count, limit, size, kind, _, page) = found
    if kind != 2 or size != 32 or count != -(-limit // (1 << page)):
        return "another"
    pages = (content[from_:min(from_ + (1 << page), limit)] for from_ in range(0, limit, 1 << page))
    told = (blob[start + hashes + size * n:start + hashes + size * (n + 1)] for n in range(count))
    return "true" if all(hashlib.sha256(part).digest() == hash_ for part, hash_ in zip(pages, told)) else "a false"


def sealed(blob, slot):
    """The hash in one of the special slots of a signature; None if it is not filled."""
    found = directory(blob)
    if not found:
        return None
    start, (_, _, _, _, hashes, _, special, _, _, size, _, _, _) = found
    at = start + hashes - size * slot
    told = blob[at:at + size]
    return told if slot <= special and any(told) else None


def identifier(blob):
    """Who a signature says that the program is."""
    found = directory(blob)
    if not found:
        return None
    start, fields = found
    at = start + fields[5]
    return blob[at:blob.index(b"\0", at)].decode()


def dotted(version):
    return ".".join(map(str, version))


def slices(path):
    """The program for each processor: (processor, facts, signature)."""
    told = []
    fat = lief.MachO.parse(str(path))
    whole = pathlib.Path(path).read_bytes()
    for binary in fat:
        # Where the next slice begins does not matter: a signature says how far it goes.
        content, blob = whole[binary.fat_offset:], b""
        if binary.has_code_signature:
            start = binary.code_signature.data_offset
            blob = content[start:start + binary.code_signature.data_size]
        build = binary.build_version
        facts = {
            "cpu": binary.header.cpu_type.name,
            "type": binary.header.file_type.name,
            "platform": build.platform.name if build else "an unknown system",
            "minimum": tuple(build.minos[:2]) if build else (0, 0),
            "libraries": [library.name for library in binary.libraries],
            "rpaths": [command.path for command in binary.commands if isinstance(command, lief.MachO.RPathCommand)],
            "signature": signature(content, blob),
        }
        told.append((binary.fat_offset, facts, blob))
    return told


def program_faults(path, minimum, cpus):
    """What is wrong with a program; and its slices."""
    told = slices(path)
    found = []
    if sorted(facts["cpu"] for _, facts, _ in told) != sorted(cpus):
        found.append(f"is for {', '.join(facts['cpu'] for _, facts, _ in told)}, not for {', '.join(cpus)}")
    for offset, facts, _ in told:
        cpu = facts["cpu"]
        found += [f"({cpu}) {fault}" for fault in faults(facts, minimum, cpu)]
        if offset % ALIGNED.get(cpu, 1):
            found.append(f"({cpu}) is at {offset}, where macOS does not load it")
    return found, told


def bundle_faults(bundle, blobs):
    """What is wrong with the seal of a bundle whose program has these signatures, one for each processor."""
    contents = bundle / "Contents"
    try:
        info = plistlib.loads((contents / "Info.plist").read_bytes())
        resources = plistlib.loads((contents / "_CodeSignature/CodeResources").read_bytes())
    except (OSError, plistlib.InvalidFileException, ValueError) as fault:
        return [f"cannot be read: {fault}"]
    found = []
    for blob in blobs:
        for slot, file in [(INFO_PLIST, "Info.plist"), (RESOURCES, "_CodeSignature/CodeResources")]:
            told = sealed(blob, slot)
            if told is None:
                found.append(f"has a signature without {file}")
            elif told != hashlib.sha256((contents / file).read_bytes()).digest():
                found.append(f"has a signature that is not true of {file}")
        if identifier(blob) != info.get("CFBundleIdentifier"):
            found.append(f"is signed as {identifier(blob)}, and is {info.get('CFBundleIdentifier')}")
    own = {"Info.plist", "_CodeSignature/CodeResources", f"MacOS/{info.get('CFBundleExecutable')}"}
    there = {str(file.relative_to(contents)) for file in contents.rglob("*") if file.is_file()} - own
    listed = resources.get("files2", {})
    for file in sorted(there | listed.keys()):
        if file not in listed:
            found.append(f"has {file}, which is not sealed")
        elif file not in there:
            found.append(f"has no {file}, which is sealed")
        elif listed[file]["hash2"] != hashlib.sha256((contents / file).read_bytes()).digest():
            found.append(f"has another {file} than was sealed")
    icon = info.get("CFBundleIconFile", "")
    if not (contents / "Resources" / icon).is_file():
        found.append(f"has no icon {icon}")
    return found


def main(minimum, cpus, *paths):
    minimum = tuple(map(int, minimum.split(".")))
    cpus = [cpu.upper() for cpu in cpus.split(",")]
    failed = False
    for path in map(pathlib.Path, paths):
        program = path
        if path.suffix == ".app":
            program = path / "Contents/MacOS" / path.stem
        found, told = program_faults(program, minimum, cpus)
        if path.suffix == ".app":
            found += bundle_faults(path, [blob for _, _, blob in told])
        for fault in found:
            failed = True
            print(f"{path.name} {fault}")
        if path.name in ("ax", "axd", "axd.app"):
            facts = told[0][1]
            loads = sorted(framework(library) or library.rsplit("/", 1)[1] for library in facts["libraries"])
            signed = f"signed ad hoc as {identifier(told[0][2])}"
            print(f"{path.name}: {' and '.join(cpus).lower()}, macOS {dotted(facts['minimum'])} or newer, {signed}, loads {', '.join(loads)}")
    print(f"{len(paths)} programs for {' and '.join(cpus).lower()}")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
