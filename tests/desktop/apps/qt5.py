#!/usr/bin/python3
"""The test app in Qt 5: the one in Qt 6, given the older library in the newer one's name."""

import sys

import PyQt5.QtCore
import PyQt5.QtWidgets

sys.modules.update({"PyQt6": PyQt5, "PyQt6.QtCore": PyQt5.QtCore, "PyQt6.QtWidgets": PyQt5.QtWidgets})

import qt6  # noqa: E402

if __name__ == "__main__":
    qt6.main("Qt5")
