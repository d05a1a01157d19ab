"""Tests of what joins, bundles and signs programs, by what looks at them: whether it is right, and whether each fault is found.

    AXD_ARM64=PROGRAM AXD_X86_64=PROGRAM PYTHONPATH=…/lief python3 -m unittest scripts/macos/test_bundle.py
"""
import hashlib
import os
import pathlib
import plistlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import check_macho
import universal

CPUS = ["ARM64", "X86_64"]
MINIMUM = (13, 0)


class Bundle(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.programs = [os.environ["AXD_ARM64"], os.environ["AXD_X86_64"]]
        joined = pathlib.Path(cls.folder.name) / "axd"
        universal.main(joined, *cls.programs)
        subprocess.run([HERE / "bundle", joined, cls.folder.name], check=True, stdout=subprocess.DEVNULL)
        cls.bundle = pathlib.Path(cls.folder.name) / "axd.app"

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def faults(self, change=lambda contents: None):
        """What is wrong with a copy of the bundle after a change."""
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / "axd.app"
            shutil.copytree(self.bundle, copy)
            change(copy / "Contents")
            found, told = check_macho.program_faults(copy / "Contents/MacOS/axd", MINIMUM, CPUS)
            return found + check_macho.bundle_faults(copy, [blob for _, _, blob in told])

    def test_it_is_as_macos_wants_it(self):
        self.assertEqual(self.faults(), [])
        info = plistlib.loads((self.bundle / "Contents/Info.plist").read_bytes())
        for key, value in {
            "CFBundleIdentifier": "dev.axd.axd", "CFBundleExecutable": "axd", "CFBundleName": "axd", "CFBundleIconFile": "axd.icns",
            "LSUIElement": True, "NSAppSleepDisabled": True, "LSMinimumSystemVersion": "13.0",
        }.items():
            self.assertEqual(info[key], value, key)
        self.assertEqual(info["CFBundleShortVersionString"], info["CFBundleVersion"])
        self.assertNotIn("@", info["CFBundleVersion"])

    def test_each_slice_is_the_program_that_the_linker_made(self):
        whole = (self.bundle / "Contents/MacOS/axd").read_bytes()
        for part, program in zip(universal.parts(whole), self.programs):
            linked = pathlib.Path(program).read_bytes()
            # Only the load commands that say how long the signature is differ, and the signature itself.
            header = 0x8000
            length = min(len(part), len(linked)) - 0x100000
            self.assertEqual(hashlib.sha256(part[header:length]).digest(), hashlib.sha256(linked[header:length]).digest())

    def test_each_change_is_found(self):
        def write(name, change):
            def apply(contents):
                file = contents / name
                file.parent.mkdir(exist_ok=True)
                content = file.read_bytes() if file.exists() else b""
                file.write_bytes(change(content))
            return apply

        def flip(at):
            return lambda content: content[:at] + bytes([content[at] ^ 1]) + content[at + 1:]

        program = (self.bundle / "Contents/MacOS/axd").read_bytes()
        resources = "_CodeSignature/CodeResources"
        for name, change, said, times in [
            ("Info.plist", lambda text: text.replace(b"<true/>", b"<false/>", 1), "not true of Info.plist", 2),
            (resources, lambda text: text + b" ", "not true of _CodeSignature", 2),
            ("Resources/axd.icns", flip(100), "another Resources/axd.icns", 1),
            ("Resources/more", lambda text: b"x", "not sealed", 1),
            ("MacOS/more", lambda text: b"x", "not sealed", 1),
            ("MacOS/axd", flip(1 << 16), "(ARM64) has a false signature", 1),
            ("MacOS/axd", flip(len(program) - (1 << 20)), "(X86_64) has a false signature", 1),
        ]:
            found = self.faults(write(name, change))
            self.assertEqual((len(found), all(said in fault for fault in found)), (times, True), f"{name}: {found}")
        gone = self.faults(lambda contents: (contents / "Resources/axd.icns").unlink())
        self.assertTrue(any("has no Resources/axd.icns" in fault for fault in gone), gone)

    def test_a_bundle_whose_program_has_the_linkers_signature_is_not_sealed(self):
        def replace(contents):
            universal.main(contents / "MacOS/axd", *self.programs)

        found = self.faults(replace)
        self.assertIn("has a signature without Info.plist", found)
        self.assertIn("has a signature without _CodeSignature/CodeResources", found)

    def test_a_program_for_one_processor_only_is_told(self):
        found, _ = check_macho.program_faults(self.programs[0], MINIMUM, CPUS)
        self.assertEqual(found, ["is for ARM64, not for ARM64, X86_64"])


if __name__ == "__main__":
    unittest.main()
