"""What the X server itself says of keys and buttons, asked through libX11: the judge of what axd left behind."""

from __future__ import annotations

import ctypes
import ctypes.util


class XServer:
    """A connection to the display that the environment names."""

    def __init__(self) -> None:
        self.lib = lib = ctypes.CDLL(ctypes.util.find_library("X11") or "libX11.so.6")
        lib.XOpenDisplay.restype = ctypes.c_void_p
        lib.XDefaultRootWindow.restype = ctypes.c_ulong
        lib.XDefaultRootWindow.argtypes = [ctypes.c_void_p]
        lib.XQueryKeymap.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
        lib.XDisplayKeycodes.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int)]
        lib.XGetKeyboardMapping.restype = ctypes.POINTER(ctypes.c_ulong)
        lib.XGetKeyboardMapping.argtypes = [ctypes.c_void_p, ctypes.c_ubyte, ctypes.c_int, ctypes.POINTER(ctypes.c_int)]
        lib.XFree.argtypes = [ctypes.c_void_p]
        lib.XQueryPointer.argtypes = [ctypes.c_void_p, ctypes.c_ulong] + [ctypes.c_void_p] * 7
        self.display = lib.XOpenDisplay(None)
        assert self.display, "the X server does not answer"
        self.root = lib.XDefaultRootWindow(self.display)

    def keys_down(self) -> set[int]:
        """The keycodes of the keys that are down."""
        bits = ctypes.create_string_buffer(32)
        self.lib.XQueryKeymap(self.display, bits)
        return {code for code in range(256) if bits.raw[code // 8] & (1 << (code % 8))}

    def buttons_down(self) -> set[int]:
        """The numbers of the first five buttons that are down."""
        window, x, mask = ctypes.c_ulong(), ctypes.c_int(), ctypes.c_uint()
        places = [ctypes.byref(window), ctypes.byref(window)] + [ctypes.byref(x)] * 4 + [ctypes.byref(mask)]
        self.lib.XQueryPointer(self.display, self.root, *places)
        return {number for number in range(1, 6) if mask.value & (1 << (7 + number))}

    def key_map(self) -> dict[int, tuple[int, ...]]:
        """What is on each key, without what is empty at the end."""
        least, most, columns = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        self.lib.XDisplayKeycodes(self.display, ctypes.byref(least), ctypes.byref(most))
        count = most.value - least.value + 1
        symbols = self.lib.XGetKeyboardMapping(self.display, least.value, count, ctypes.byref(columns))
        width, found = columns.value, {}
        for at in range(count):
            row = list(symbols[at * width : (at + 1) * width])
            while row and row[-1] == 0:
                row.pop()
            found[least.value + at] = tuple(row)
        self.lib.XFree(symbols)
        return found
