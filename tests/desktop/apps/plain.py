#!/usr/bin/python3
"""Two windows of Qt 6 that are nothing but widgets, without a main window, and a dialog: for what top-level widgets are said to be."""

from __future__ import annotations

import sys

from PyQt6.QtWidgets import QApplication, QDialog, QLineEdit, QPushButton, QVBoxLayout, QWidget


def shown(widget: QWidget, title: str, inside: QWidget) -> QWidget:
    widget.setWindowTitle(title)
    QVBoxLayout(widget).addWidget(inside)
    widget.resize(300, 120)
    widget.show()
    return widget


app = QApplication(sys.argv)
boxes = QWidget()
QVBoxLayout(boxes).addWidget(QPushButton("Press"))
kept = [shown(QWidget(), "Plain one", boxes), shown(QWidget(), "Plain two", QLineEdit("text")), shown(QDialog(), "A dialog", QPushButton("Close"))]
print("ready", flush=True)
sys.exit(app.exec())
