"""What pyobjc knows of Apple's frameworks: strings, numbers, symbols and signatures, from the `_metadata.py` of its wheels.

Those files are generated from Apple's headers. They are Python, and read as syntax; nothing in them is run. Signatures are in
Objective-C's type encoding with pyobjc's additions (`Z` a Boolean, `T` a UniChar); for what differs, 64 bits and arm64.
"""
import ast
import re
from dataclasses import dataclass, field

# The frameworks, and the folders of the wheels that describe them.
FRAMEWORKS = {
    "CoreFoundation": ["CoreFoundation"],
    "Foundation": ["Foundation"],
    "AppKit": ["AppKit"],
    "CoreGraphics": ["Quartz/CoreGraphics"],
    "ImageIO": ["Quartz/ImageIO"],
    "CoreVideo": ["Quartz/CoreVideo"],
    "QuartzCore": ["Quartz/QuartzCore"],
    "ApplicationServices": ["HIServices"],
    "CoreMedia": ["CoreMedia"],
    "ScreenCaptureKit": ["ScreenCaptureKit"],
}


@dataclass
class Metadata:
    strings: dict = field(default_factory=dict)  # name: text, of what is a macro in the headers
    numbers: dict = field(default_factory=dict)  # name: value
    symbols: dict = field(default_factory=dict)  # name: encoding, of exported variables
    functions: dict = field(default_factory=dict)  # name: (encoding, {argument: encoding of the callback})
    references: dict = field(default_factory=dict)  # name of a CF type: encoding

    def add(self, other):
        for table in ["strings", "numbers", "symbols", "functions", "references"]:
            getattr(self, table).update(getattr(other, table))


def read(root, framework):
    told = Metadata()
    for folder in FRAMEWORKS[framework]:
        told.add(parse((root / folder / "_metadata.py").read_text()))
    return told


def read_all(root):
    told = Metadata()
    for framework in FRAMEWORKS:
        told.add(read(root, framework))
    return told


def parse(source):
    told = Metadata()
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            _table(told, statement.targets[0].id, _value(statement.value))
        elif isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            _table(told, statement.target.id, _value(statement.value))
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            call = statement.value.func
            if isinstance(call, ast.Attribute) and call.attr == "update" and isinstance(call.value, ast.Name):
                _table(told, call.value.id, _value(statement.value.args[0]))
    return told


def _table(told, name, value):
    if name == "constants" and isinstance(value, str):
        for entry in filter(None, value.split("$")):
            symbol, _, encoding = entry.partition("@")
            told.symbols[symbol] = encoding or "@"
    elif name == "enums" and isinstance(value, str):
        for entry in filter(None, value.split("$")):
            constant, _, number = entry.partition("@")
            told.numbers[constant] = float(number) if re.search(r"[.e]|inf|nan", number) else int(number)
    elif name == "misc" and isinstance(value, dict):
        for key, text in value.items():
            if isinstance(text, str):
                told.strings[key] = text
            elif isinstance(text, (int, float)):
                told.numbers[key] = text
    elif name == "functions" and isinstance(value, dict):
        for function, described in value.items():
            encoding, *rest = described
            details = rest[1] if len(rest) > 1 and isinstance(rest[1], dict) else {}
            told.functions[function] = (encoding, _callbacks(details))
    elif name == "cftypes" and isinstance(value, list):
        for reference, encoding, get_type_id, _ in value:
            told.references[reference] = encoding
            if get_type_id:
                told.functions.setdefault(get_type_id, ("Q", {}))


def _callbacks(details):
    """The signature of each argument that is a function."""
    found = {}
    for at, argument in (details.get("arguments") or {}).items():
        callback = argument.get("callable") if isinstance(argument, dict) else None
        if callback:
            arguments = callback["arguments"]
            found[at] = callback["retval"]["type"] + "".join(arguments[n]["type"] for n in sorted(arguments))
    return found


def _value(node):
    """What an expression says: literals, and the two functions that choose by architecture. None for anything else."""
    if isinstance(node, ast.Constant):
        return node.value.decode("ascii", "replace") if isinstance(node.value, bytes) else node.value
    if isinstance(node, ast.Dict):
        return {_value(key): _value(value) for key, value in zip(node.keys, node.values) if key is not None}
    if isinstance(node, ast.Tuple):
        return tuple(_value(part) for part in node.elts)
    if isinstance(node, ast.List):
        return [_value(part) for part in node.elts]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _value(node.left), _value(node.right)
        return right if left is None else left if right is None else left + right  # the table so far, and more of it
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):  # "$name@%s$" % sel32or64(…)
        left, right = _value(node.left), _value(node.right)
        return left % right if isinstance(left, str) and right is not None else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 2:
        if node.func.id == "sel32or64":
            return _value(node.args[1])
        if node.func.id == "selAorI":
            return _value(node.args[0])
    return None


# Encodings.

@dataclass(frozen=True)
class Code:
    """A plain type: `i`, `Q`, `d`, `@`, `?`."""
    letter: str


@dataclass(frozen=True)
class PointerTo:
    to: object


@dataclass(frozen=True)
class Struct:
    name: str
    fields: tuple


def decode(encoding):
    """The types in an encoding, in order: of a function, its result and then its arguments."""
    found, at = [], 0
    while at < len(encoding):
        kind, at = _decode_one(encoding, at)
        found.append(kind)
    return found


def _decode_one(text, at):
    while text[at] in "rnNoORVA":  # const, in, out and so on: they do not change the form
        at += 1
    letter = text[at]
    if letter == "^":
        if at + 1 < len(text) and text[at + 1] == "?":
            return PointerTo(Code("?")), at + 2
        to, at = _decode_one(text, at + 1)
        return PointerTo(to), at
    if letter in "{(":
        closing = "}" if letter == "{" else ")"
        end = at + 1
        while text[end] not in "=" + closing:
            end += 1
        name, fields = text[at + 1:end], []
        if text[end] == "=":
            end += 1
            while text[end] != closing:
                if text[end] == '"':  # a field's name
                    end = text.index('"', end + 1) + 1
                part, end = _decode_one(text, end)
                fields.append(part)
        return Struct(name, tuple(fields)), end + 1
    if letter == "[":
        end = at + 1
        while text[end].isdigit():
            end += 1
        of, end = _decode_one(text, end)
        return Struct("[]", (of,)), end + 1
    if letter == "@" and text[at + 1:at + 2] == "?":  # a block
        return Code("@"), at + 2
    if letter == "b":  # a bit field, and how many bits
        end = at + 1
        while text[end].isdigit():
            end += 1
        return Code("b"), end
    return Code(letter), at + 1
