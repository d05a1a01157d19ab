#!/usr/bin/env python3
"""Joins programs for different processors into one universal program, as Apple's `lipo -create` does.

    universal.py OUT PROGRAM…

The layout is that of mach-o/fat.h: a header in big endian, and for each program its processor, place and size.
"""
import os
import pathlib
import struct
import sys

MACH_O_64 = 0xFEEDFACF
UNIVERSAL = 0xCAFEBABE
# Each program begins at a multiple of two to this power: pages have 16 kB on Apple's own processors.
ALIGNMENT = 14


def joined(programs):
    """The bytes of a universal program."""
    place = 8 + 20 * len(programs)
    header, body = struct.pack(">II", UNIVERSAL, len(programs)), b""
    for program in programs:
        magic, cpu, kind = struct.unpack_from("<III", program)
        if magic != MACH_O_64:
            raise ValueError("not a program for one 64-bit processor")
        begin = -(-place // (1 << ALIGNMENT)) << ALIGNMENT
        header += struct.pack(">IIIII", cpu, kind, begin, len(program), ALIGNMENT)
        body += bytes(begin - place) + program
        place = begin + len(program)
    return header + body


def parts(program):
    """The programs in a universal one; of another, itself."""
    magic, count = struct.unpack_from(">II", program)
    if magic != UNIVERSAL:
        return [program]
    entries = (struct.unpack_from(">IIIII", program, 8 + 20 * at) for at in range(count))
    return [program[begin:begin + size] for _, _, begin, size, _ in entries]


def main(out, *programs):
    pathlib.Path(out).write_bytes(joined([pathlib.Path(program).read_bytes() for program in programs]))
    os.chmod(out, 0o755)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
