#!/usr/bin/python3
"""The test app in Qt 6. See storm.py for what it does and says; the widgets are the same in every toolkit.

Qt has no switch and no expander: a second checkable button and a collapsible group box stand for them.
"""

from __future__ import annotations

import sys
from typing import Any

from PyQt6.QtCore import Qt, QTimer
from PyQt6.QtWidgets import (
    QApplication, QCheckBox, QComboBox, QGroupBox, QHBoxLayout, QLabel, QLineEdit, QListWidget, QMainWindow, QMessageBox,
    QPlainTextEdit, QProgressBar, QPushButton, QRadioButton, QSlider, QSpinBox, QTableWidget, QTableWidgetItem, QTabWidget,
    QVBoxLayout, QWidget,
)  # fmt: skip

import storm


def named(widget: QWidget, name: str) -> QWidget:
    widget.setAccessibleName(name)
    return widget


class Window:
    def __init__(self, toolkit: str, big: bool = False) -> None:
        self.counted = self.made = 0
        self.box: QMessageBox | None = None
        self.window = QMainWindow()
        self.window.setWindowTitle(f"Test {toolkit}")
        self.window.resize(900, 640)
        for title, items in (("File", ("New", "Open", "Quit")), ("Help", ("About",))):
            menu = self.window.menuBar().addMenu(title)
            for item in items:
                menu.addAction(item)
        halves = QWidget()
        layout = QHBoxLayout(halves)
        layout.addWidget(self.controls())
        layout.addWidget(self.pages(big), 1)
        self.window.setCentralWidget(halves)
        self.window.show()
        self.press.setFocus()

    def controls(self) -> QWidget:
        column = QWidget()
        layout = QVBoxLayout(column)
        self.press = self.button("Press", self.count)
        self.label = QLabel("count 0")
        self.check_box = QCheckBox("Check")
        self.toggle_button, self.switch = QPushButton("Toggle"), QPushButton("Switch")
        self.toggle_button.setCheckable(True)
        self.switch.setCheckable(True)
        self.radios = [QRadioButton(name) for name in ("Red", "Green", "Blue")]
        self.radios[0].setChecked(True)
        self.entry_field, self.password = named(QLineEdit(), "Entry"), named(QLineEdit(), "Password")
        self.password.setEchoMode(QLineEdit.EchoMode.Password)
        self.slider_scale = named(QSlider(Qt.Orientation.Horizontal), "Slider")
        self.slider_scale.setMaximum(100)
        self.spin_button = named(QSpinBox(), "Spin")
        self.spin_button.setMaximum(100)
        self.combo_box = named(QComboBox(), "Combo")
        self.combo_box.addItems(["one", "two", "three"])
        self.progress_bar = named(QProgressBar(), "Progress")
        self.progress_bar.setValue(0)
        self.expander_box = QGroupBox("More")
        self.expander_label = QLabel("hidden until expanded")
        QVBoxLayout(self.expander_box).addWidget(self.expander_label)
        self.expander_label.hide()
        self.target = QPushButton("Target")
        for widget in (
            self.press, self.label, self.check_box, self.toggle_button, self.switch, *self.radios, self.entry_field,
            self.password, self.slider_scale, self.spin_button, self.combo_box, self.progress_bar, self.expander_box,
            self.target, self.button("Enable/Disable", self.sensitivity), self.button("Dialog", self.dialog),
        ):  # fmt: skip
            layout.addWidget(widget)
        return column

    def button(self, name: str, act: Any) -> QPushButton:
        button = QPushButton(name)
        button.clicked.connect(lambda *_: act(0))
        return button

    def pages(self, big: bool) -> QTabWidget:
        self.tabs = QTabWidget()
        self.tabs.addTab(self.list_page(), "List")
        self.tabs.addTab(self.table_page(), "Table")
        self.text = named(QPlainTextEdit("first line\nsecond line"), "Notes")
        self.tabs.addTab(self.text, "Text")
        if big:
            self.tabs.addTab(self.big_page(), "Big")
        return self.tabs

    def list_page(self) -> QWidget:
        page, buttons = QWidget(), QWidget()
        layout, row = QVBoxLayout(page), QHBoxLayout(buttons)
        for name, act in (
            ("Add", self.add_row), ("Remove", self.remove_row), ("Rename", self.rename_row), ("Reorder", self.reorder_rows)
        ):  # fmt: skip
            row.addWidget(self.button(name, act))
        self.rows = named(QListWidget(), "Rows")
        layout.addWidget(buttons)
        layout.addWidget(self.rows)
        for _ in range(3):
            self.add_row(0)
        return page

    def big_page(self) -> QTableWidget:
        table = named(QTableWidget(5000, 2), "Big")
        table.setHorizontalHeaderLabels(["Key", "Value"])
        for row in range(5000):
            table.setItem(row, 0, QTableWidgetItem(f"r{row}"))
            table.setItem(row, 1, QTableWidgetItem(f"v{row}"))
        return table

    def table_page(self) -> QTableWidget:
        self.table = named(QTableWidget(20, 2), "Table")
        self.table.setHorizontalHeaderLabels(["Key", "Value"])
        for row in range(20):
            self.table.setItem(row, 0, QTableWidgetItem(f"r{row}"))
            self.table.setItem(row, 1, QTableWidgetItem(f"v{row}"))
        return self.table

    # What storms and buttons do.

    def add_row(self, n: int) -> None:
        self.made += 1
        at = n % (self.rows.count() + 1) if n else self.rows.count()
        self.rows.insertItem(at, f"row {self.made}")

    def remove_row(self, n: int) -> None:
        if self.rows.count():
            self.rows.takeItem(n % self.rows.count())

    def rename_row(self, n: int) -> None:
        if self.rows.count():
            item = self.rows.item(n % self.rows.count())
            item.setText(item.text().split("*")[0] + f"*{n % 100}")

    def reorder_rows(self, n: int) -> None:
        if self.rows.count():
            self.rows.insertItem(0, self.rows.takeItem(n % self.rows.count()))

    def count(self, n: int) -> None:
        self.counted += 1
        self.label.setText(f"count {self.counted}")

    def check(self, n: int) -> None:
        self.check_box.setChecked(not self.check_box.isChecked())

    def toggle(self, n: int) -> None:
        widget = self.toggle_button if n % 2 else self.switch
        widget.setChecked(not widget.isChecked())

    def radio(self, n: int) -> None:
        self.radios[n % 3].setChecked(True)

    def entry(self, n: int) -> None:
        (self.password if n % 5 == 0 else self.entry_field).setText(f"text {n % 1000}")

    def notes(self, n: int) -> None:
        self.text.setPlainText(f"line {n % 10}\nline {n % 100}")

    def slider(self, n: int) -> None:
        self.slider_scale.setValue(n % 101)

    def spin(self, n: int) -> None:
        self.spin_button.setValue(n % 101)

    def combo(self, n: int) -> None:
        self.combo_box.setCurrentIndex(n % 3)

    def tab(self, n: int) -> None:
        self.tabs.setCurrentIndex(n % 3)

    def sensitivity(self, n: int) -> None:
        self.target.setEnabled(not self.target.isEnabled())

    def dialog(self, n: int) -> None:
        if self.box:
            return self.close_dialog()
        buttons = QMessageBox.StandardButton.Ok | QMessageBox.StandardButton.Cancel
        self.box = QMessageBox(QMessageBox.Icon.Question, "Question", "Sure?", buttons, self.window)
        self.box.finished.connect(lambda *_: self.close_dialog())
        self.box.open()

    def close_dialog(self) -> None:
        if self.box:
            box, self.box = self.box, None
            box.close()
            box.deleteLater()

    def progress(self, n: int) -> None:
        self.progress_bar.setValue(n % 101)

    def expander(self, n: int) -> None:
        self.expander_label.setVisible(self.expander_label.isHidden())

    def cell(self, n: int) -> None:
        self.table.item(n % 20, 1).setText(f"v{n % 1000}")

    def state(self) -> dict[str, Any]:
        return {
            "rows": [self.rows.item(row).text() for row in range(self.rows.count())],
            "count": self.counted,
            "check": self.check_box.isChecked(),
            "toggle": [self.toggle_button.isChecked(), self.switch.isChecked()],
            "radio": [radio.isChecked() for radio in self.radios],
            "entry": [self.entry_field.text(), self.password.text()],
            "notes": self.text.toPlainText(),
            "numbers": [self.slider_scale.value(), self.spin_button.value()],
            "combo": self.combo_box.currentIndex(),
            "tab": self.tabs.currentIndex(),
            "sensitive": self.target.isEnabled(),
            "progress": self.progress_bar.value() / 100,
            "expanded": not self.expander_label.isHidden(),
            "cells": [self.table.item(row, 1).text() for row in range(20)],
        }


def main(toolkit: str = "Qt6") -> None:
    args = storm.options(f"The test app in {toolkit}.")
    name = f"axd-test-{toolkit.lower()}"
    app = QApplication([name])
    app.setApplicationName(name)
    weather = storm.Weather(
        Window(toolkit, args.big),
        args,
        after=lambda ms, act: QTimer.singleShot(ms, act),
        when_idle=lambda act: QTimer.singleShot(0, act),
    )
    storm.on_sigusr1(weather.asked_for)
    pulse = QTimer()  # lets the interpreter see signals: Qt's loop would not return to it otherwise
    pulse.timeout.connect(lambda: None)
    pulse.start(20)
    QTimer.singleShot(0, weather.started)
    sys.exit(app.exec())


if __name__ == "__main__":
    main()
