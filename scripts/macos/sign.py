#!/usr/bin/env python3
"""Signs a program or a bundle for macOS ad hoc, as `codesign --force --sign -` does, where there is no codesign.

    sign.py IDENTIFIER PROGRAM         a program that the linker has signed; its signature is replaced
    sign.py IDENTIFIER BUNDLE.app      its program, with Info.plist and all resources held by the signature

The layout of a signature is that of xnu's osfmk/kern/cs_blobs.h. check_macho.py reads it back, with none of this.
"""
import hashlib
import pathlib
import plistlib
import struct
import sys

import universal

PAGE = 12  # a page has two to this power bytes
SHA256 = 2
AD_HOC = 0x2
MAIN_BINARY = 0x1
DIRECTORY, REQUIREMENTS, CMS = 0, 2, 0x10000
LC_SEGMENT_64, LC_CODE_SIGNATURE = 0x19, 0x1D

# Which files of a bundle are held, in the words of Apple's codesign: the rules that it writes into every bundle.
RULES = {
    "^Resources/": True,
    "^Resources/.*\\.lproj/": {"optional": True, "weight": 1000.0},
    "^Resources/.*\\.lproj/locversion.plist$": {"omit": True, "weight": 1100.0},
    "^Resources/Base\\.lproj/": {"weight": 1010.0},
    "^version.plist$": True,
}
RULES_2 = {
    ".*\\.dSYM($|/)": {"weight": 11.0},
    "^(.*/)?\\.DS_Store$": {"omit": True, "weight": 2000.0},
    "^(Frameworks|SharedFrameworks|PlugIns|Plug-ins|XPCServices|Helpers|MacOS|Library/(Automator|Spotlight|LoginItems))/": {
        "nested": True, "weight": 10.0},
    "^.*": True,
    "^Info\\.plist$": {"omit": True, "weight": 20.0},
    "^PkgInfo$": {"omit": True, "weight": 20.0},
    "^Resources/": {"weight": 20.0},
    "^Resources/.*\\.lproj/": {"optional": True, "weight": 1000.0},
    "^Resources/.*\\.lproj/locversion.plist$": {"omit": True, "weight": 1100.0},
    "^Resources/Base\\.lproj/": {"weight": 1010.0},
    "^[^/]+$": {"nested": True, "weight": 10.0},
    "^embedded\\.provisionprofile$": {"weight": 20.0},
    "^version\\.plist$": {"weight": 20.0},
}


def code_resources(contents):
    """The list of a bundle's resources with their hashes: the text of _CodeSignature/CodeResources."""
    files = sorted(file for file in (contents / "Resources").rglob("*") if file.is_file())
    names = {str(file.relative_to(contents)): file.read_bytes() for file in files}
    return plistlib.dumps({
        "files": {name: hashlib.sha1(content).digest() for name, content in names.items()},
        "files2": {name: {"hash2": hashlib.sha256(content).digest()} for name, content in names.items()},
        "rules": RULES,
        "rules2": RULES_2,
    })


def blob(magic, body):
    return struct.pack(">II", magic, 8 + len(body)) + body


def signature(code, text_size, identifier, info, resources):
    """The signature of the code, which is a program up to its signature."""
    requirements = blob(0xFADE0C01, struct.pack(">I", 0))
    hashed = [resources, requirements, info]  # slots 3, 2 and 1, counted back from the first page
    if resources is None:
        hashed = hashed[1:]
    special = [hashlib.sha256(content).digest() if content is not None else bytes(32) for content in hashed]
    pages = [hashlib.sha256(code[at:at + (1 << PAGE)]).digest() for at in range(0, len(code), 1 << PAGE)]
    name = identifier.encode() + b"\0"
    fixed = 88
    hashes = fixed + len(name) + 32 * len(special)
    body = struct.pack(
        ">IIIIIIIBBBBIIIIQQQQ", 0x20400, AD_HOC, hashes, fixed, len(special), len(pages), len(code), 32, SHA256, 0, PAGE,
        0, 0, 0, 0, 0, 0, text_size, MAIN_BINARY)
    directory = blob(0xFADE0C02, body + name + b"".join(special) + b"".join(pages))
    parts = [(DIRECTORY, directory), (REQUIREMENTS, requirements), (CMS, blob(0xFADE0B01, b""))]
    place, index, content = 12 + 8 * len(parts), b"", b""
    for kind, part in parts:
        index += struct.pack(">II", kind, place)
        content += part
        place += len(part)
    return blob(0xFADE0CC0, struct.pack(">I", len(parts)) + index + content)


def signed(program, identifier, info=None, resources=None):
    """A program for one processor with a new signature in the place of the linker's."""
    program = bytearray(program)
    segments, place = {}, None
    at = 32
    for _ in range(struct.unpack_from("<I", program, 16)[0]):
        kind, size = struct.unpack_from("<II", program, at)
        if kind == LC_SEGMENT_64:
            segments[bytes(program[at + 8:at + 24]).rstrip(b"\0")] = at
        elif kind == LC_CODE_SIGNATURE:
            place = at
        at += size
    if place is None:
        raise ValueError("the linker has left no room for a signature")
    begin = struct.unpack_from("<I", program, place + 8)[0]
    text_size = struct.unpack_from("<Q", program, segments[b"__TEXT"] + 48)[0]
    linkedit = segments[b"__LINKEDIT"]
    file_begin = struct.unpack_from("<Q", program, linkedit + 40)[0]
    # How long it is does not depend on what it says, and has to be in the header before the header is hashed.
    length = len(signature(bytes(program[:begin]), text_size, identifier, info, resources))
    length = -(-length // 16) * 16
    file_size = begin + length - file_begin
    struct.pack_into("<I", program, place + 12, length)
    struct.pack_into("<Q", program, linkedit + 32, -(-file_size // (1 << 14)) << 14)
    struct.pack_into("<Q", program, linkedit + 48, file_size)
    code = bytes(program[:begin])
    return code + signature(code, text_size, identifier, info, resources).ljust(length, b"\0")


def sign(program, identifier, info=None, resources=None):
    """Signs the program in a file, for each of its processors."""
    parts = [signed(part, identifier, info, resources) for part in universal.parts(program.read_bytes())]
    content = universal.joined(parts) if len(parts) > 1 else parts[0]
    # A new file: macOS remembers the signature of a file that it has run.
    new = program.with_name(program.name + ".new")
    new.write_bytes(content)
    new.chmod(0o755)
    new.replace(program)


def main(identifier, path):
    path = pathlib.Path(path)
    if path.suffix != ".app":
        return sign(path, identifier)
    contents = path / "Contents"
    info = (contents / "Info.plist").read_bytes()
    resources = code_resources(contents)
    (contents / "_CodeSignature").mkdir(exist_ok=True)
    (contents / "_CodeSignature/CodeResources").write_bytes(resources)
    sign(contents / "MacOS" / plistlib.loads(info)["CFBundleExecutable"], identifier, info, resources)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
