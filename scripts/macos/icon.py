#!/usr/bin/env python3
"""Draws the icon of axd.app: a tree of elements on a rounded square.

    icon.py OUT.icns

The file has two pictures, of 128 and 256 points (types ic07 and ic08, which are PNG).
"""
import pathlib
import struct
import sys
import zlib

GROUND, PAPER = (38, 70, 131), (244, 247, 252)
# The elements, as places from 0 to 1, and which hangs from which.
NODES = [(0.5, 0.26), (0.28, 0.52), (0.72, 0.52), (0.16, 0.76), (0.4, 0.76), (0.72, 0.76)]
LINES = [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5)]


def covered(x, y):
    """Whether something is drawn at a place, and whether it is on the square at all."""
    edge, corner = 0.06, 0.2
    dx = max(edge + corner - x, x - (1 - edge - corner), 0)
    dy = max(edge + corner - y, y - (1 - edge - corner), 0)
    inside = dx * dx + dy * dy <= corner * corner
    for cx, cy in NODES:
        if (x - cx) ** 2 + (y - cy) ** 2 <= 0.068 ** 2:
            return inside, True
    for a, b in LINES:
        (ax, ay), (bx, by) = NODES[a], NODES[b]
        along = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2)
        along = min(max(along, 0), 1)
        if (x - ax - along * (bx - ax)) ** 2 + (y - ay - along * (by - ay)) ** 2 <= 0.016 ** 2:
            return inside, True
    return inside, False


def png(size):
    rows = b""
    for row in range(size):
        rows += b"\0"
        for column in range(size):
            # Four places a point, so that edges are smooth.
            shots = [covered((column + dx) / size, (row + dy) / size) for dx in (0.25, 0.75) for dy in (0.25, 0.75)]
            inside = sum(shot[0] for shot in shots)
            drawn = sum(shot[0] and shot[1] for shot in shots)
            share = drawn / inside if inside else 0
            rows += bytes(round(g + (p - g) * share) for g, p in zip(GROUND, PAPER)) + bytes([255 * inside // 4])

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", size, size, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def main(out):
    body = b""
    for kind, size in [(b"ic07", 128), (b"ic08", 256)]:
        picture = png(size)
        body += kind + struct.pack(">I", 8 + len(picture)) + picture
    pathlib.Path(out).write_bytes(b"icns" + struct.pack(">I", 8 + len(body)) + body)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
