"""Reads foreign declarations in Rust source: functions, statics, constants, and the types they are made of.

Not all of Rust: what stands in `extern` blocks, `const`, `type`, `struct`, `enum` and `use` items, wherever they are in
a file and whatever `cfg` they have. A declaration that is not understood is an error, not left out.
"""
import re
from dataclasses import dataclass, field


class NotUnderstood(Exception):
    pass


@dataclass(frozen=True)
class Name:
    """A named type: `CFIndex`, `u32`, `c_void`."""
    name: str


@dataclass(frozen=True)
class Pointer:
    to: object


@dataclass(frozen=True)
class Array:
    of: object


@dataclass(frozen=True)
class Function:
    """A function, or a pointer to one (in Rust they are written alike)."""
    arguments: tuple
    result: object
    variadic: bool = False


UNIT = Name("()")
NOT_64_BIT = ["cfg", "(", "not", "(", "target_pointer_width", "="]


@dataclass
class Declarations:
    functions: dict = field(default_factory=dict)  # name: Function
    statics: dict = field(default_factory=dict)  # name: type
    constants: dict = field(default_factory=dict)  # name: (type, value)
    types: dict = field(default_factory=dict)  # name: type
    structs: dict = field(default_factory=dict)  # name: [type of each field], for #[repr(C)]
    opaque: set = field(default_factory=set)  # enums without variants
    members: dict = field(default_factory=dict)  # "Type::NAME": value, of enums with a repr, bit flags and `impl` blocks
    uses: list = field(default_factory=list)  # paths as tuples; the last part may be "*"
    places: dict = field(default_factory=dict)  # name: "file:line"

    def add(self, other):
        for table in ["functions", "statics", "constants", "types", "structs", "members", "places"]:
            getattr(self, table).update(getattr(other, table))
        self.opaque |= other.opaque
        self.uses += other.uses


TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
      | (?P<string>c?"(?:\\.|[^"\\])*")
      | (?P<char>b?'(?:\\.[^']*|[^'\\])')
      | (?P<lifetime>'\w+)
      | (?P<number>0x[0-9a-fA-F_]+(?:[iu](?:8|16|32|64|size))?|0b[01_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:e-?\d+)?(?:[iuf](?:8|16|32|64|size))?)
      | (?P<word>(?:r\#)?[A-Za-z_]\w*)
      | (?P<mark>::|->|<<|>>|\.\.\.|[-{}()\[\]<>=;:,.*&|!+#?@$%^~/'])""",
    re.X | re.S,
)


def tokens(text):
    """(kind, text, line) of each token."""
    found, at, line = [], 0, 1
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            raise NotUnderstood(f"line {line}: {text[at:at + 30]!r}")
        if match.lastgroup != "space":
            found.append((match.lastgroup, match.group(), line))
        line += match.group().count("\n")
        at = match.end()
    return found


def parse(text, name="?"):
    return _Parser(tokens(text), name).file()


def parse_files(paths):
    told = Declarations()
    for path in paths:
        told.add(parse(path.read_text(), path.name))
    return told


class _Parser:
    def __init__(self, found, name):
        self.tokens, self.at, self.name = found, 0, name
        self.told = Declarations()

    # The tokens.

    def peek(self, ahead=0):
        at = self.at + ahead
        return self.tokens[at][1] if at < len(self.tokens) else None

    def kind(self, ahead=0):
        at = self.at + ahead
        return self.tokens[at][0] if at < len(self.tokens) else None

    def line(self):
        return self.tokens[min(self.at, len(self.tokens) - 1)][2]

    def next(self):
        self.at += 1
        return self.tokens[self.at - 1][1]

    def take(self, text):
        if self.peek() == text:
            self.at += 1
            return True
        return False

    def expect(self, text):
        if not self.take(text):
            raise NotUnderstood(f"{self.name}:{self.line()}: '{text}' expected, not '{self.peek()}'")

    def skip_group(self, opening, closing):
        self.expect(opening)
        depth = 1
        while depth:
            token = self.next()
            depth += (token == opening) - (token == closing)

    def end_of_group(self, at):
        """Where the braces end that open at a token."""
        depth = 1
        while depth:
            at += 1
            depth += (self.tokens[at][1] == "{") - (self.tokens[at][1] == "}")
        return at

    # Items.

    def file(self):
        repr_c, self.repr, self.impl = False, None, (None, 0)
        while self.at < len(self.tokens):
            start = self.at
            token = self.peek()
            if token == "#" and self.peek(1) == "[":
                if self.peek(2) == "repr":
                    self.repr = self.peek(4)
                    repr_c |= self.repr == "C"
                start = self.at
                self.next()
                self.skip_group("[", "]")
                if [text for _, text, _ in self.tokens[start + 2:start + 8]] == NOT_64_BIT:
                    # It is declared again for this system.
                    while self.next() != ";":
                        pass
                continue
            if token == "macro_rules" and self.peek(1) == "!":
                self.at += 3
                self.skip_group("{", "}")
            elif token == "extern" and self.kind(1) == "string" and self.peek(2) == "{":
                self.at += 3
                self.extern_block()
            elif token == "type" and self.kind(1) == "word" and self.peek(2) == "=":
                self.alias()
            elif token == "const" and self.kind(1) == "word" and self.peek(2) == ":":
                self.constant()
            elif token == "struct" and self.kind(1) == "word":
                self.struct(repr_c)
            elif token == "enum" and self.kind(1) == "word":
                self.enum()
            elif token == "impl" and self.kind(1) == "word" and self.peek(2) == "{":
                self.impl = (self.peek(1), self.end_of_group(self.at + 2))
            elif token == "use":
                self.next()
                self.use(())
                self.expect(";")
            if self.at == start:
                self.at += 1
            if token not in ("pub", "(", "crate", ")", "super"):
                repr_c, self.repr = False, None
        return self.told

    def note(self, name):
        self.told.places[name] = f"{self.name}:{self.line()}"

    def extern_block(self):
        while not self.take("}"):
            while self.peek() == "#":
                self.next()
                self.skip_group("[", "]")
            if self.take("pub") and self.peek() == "(":
                self.skip_group("(", ")")
            self.take("safe") or self.take("unsafe")
            what, name = self.next(), self.peek()
            self.note(name)
            self.next()
            if what == "fn":
                self.told.functions[name] = self.signature()
            elif what == "static":
                if name == "mut":
                    name = self.next()
                    self.note(name)
                self.expect(":")
                self.told.statics[name] = self.type()
            elif what == "type":
                self.told.opaque.add(name)
            else:
                raise NotUnderstood(f"{self.name}:{self.line()}: '{what}' in an extern block")
            self.expect(";")

    def signature(self):
        """What follows a function's name: `(a: A, b: B) -> C`. The names may be absent."""
        self.expect("(")
        arguments, variadic = [], False
        while not self.take(")"):
            if self.take("..."):
                variadic = True
            else:
                if self.kind() == "word" and self.peek(1) == ":":
                    self.at += 2
                arguments.append(self.type())
            self.take(",")
        return Function(tuple(arguments), self.type() if self.take("->") else UNIT, variadic)

    def alias(self):
        self.next()
        name = self.peek()
        self.note(name)
        self.next()
        self.expect("=")
        self.told.types[name] = self.type()

    def constant(self):
        self.next()
        name = self.peek()
        place = f"{self.name}:{self.line()}"
        self.at += 2
        kind = self.type()
        if not self.take("="):
            return  # a const parameter
        start = self.at
        while self.peek() != ";":
            if self.peek() == "{":
                self.skip_group("{", "}")
            else:
                self.next()
        owner, end = self.impl
        if self.at < end:
            name = f"{owner}::{name}"
            self.told.members[name] = self.value(self.tokens[start:self.at])
        else:
            self.told.constants[name] = (kind, self.value(self.tokens[start:self.at]))
        self.told.places[name] = place

    def value(self, expression):
        """A literal, a sum of them, or None for what is not a plain number or text."""
        if len(expression) == 1 and expression[0][0] == "string":
            return re.sub(r"\\(.)", r"\1", expression[0][1].removeprefix("c")[1:-1])
        words, at = [], 0
        while at < len(expression):
            kind, text, _ = expression[at]
            if kind == "number":
                words.append(re.sub(r"(?<=[0-9a-fA-F_])[iuf](8|16|32|64|size)$", "", text).replace("_", ""))
            elif text == "as":
                at += 1  # and the type
            elif text == "!":
                words.append("~")
            elif kind == "mark" and text in "()-+*|&<<>>":
                words.append(text)
            elif kind == "word" and text in self.told.constants and isinstance(self.told.constants[text][1], int):
                words.append(str(self.told.constants[text][1]))
            else:
                return None
            at += 1
        try:
            return eval(" ".join(words), {"__builtins__": {}})  # digits, brackets and operators only
        except SyntaxError:
            return None

    def struct(self, repr_c):
        self.next()
        name = self.peek()
        self.note(name)
        self.next()
        if self.peek() == "<":
            self.skip_group("<", ">")
        if self.take(":"):
            return self.flags(name)
        if not repr_c or self.peek() != "{":
            return
        self.expect("{")
        fields = []
        while not self.take("}"):
            while self.peek() == "#":
                self.next()
                self.skip_group("[", "]")
            if self.take("pub") and self.peek() == "(":
                self.skip_group("(", ")")
            self.at += 1
            self.expect(":")
            fields.append(self.type())
            self.take(",")
        self.told.structs[name] = fields

    def enum(self):
        self.next()
        name = self.peek()
        self.note(name)
        self.next()
        if self.peek() == "{" and self.peek(1) == "}":
            self.told.opaque.add(name)
        elif self.repr and self.peek() == "{":
            self.variants(name, self.repr)

    def variants(self, owner, kind):
        """The variants of an enum with a repr, and the number that it is passed as."""
        self.expect("{")
        value, least = -1, 0
        while not self.take("}"):
            while self.peek() == "#":
                self.next()
                self.skip_group("[", "]")
            name = f"{owner}::{self.peek()}"
            self.note(name)
            self.next()
            value += 1
            if self.take("="):
                start = self.at
                while self.peek() not in (",", "}"):
                    self.next()
                value = self.value(self.tokens[start:self.at])
            if value is None:
                raise NotUnderstood(f"{self.name}:{self.line()}: the value of {name}")
            self.told.members[name] = value
            least = min(least, value)
            self.take(",")
        self.told.types[owner] = Name(kind if kind != "C" else "i32" if least < 0 else "u32")

    def flags(self, owner):
        """The flags of the `bitflags` macro, after `struct Name:`."""
        self.told.types[owner] = self.type()
        self.expect("{")
        while not self.take("}"):
            while self.peek() == "#":
                self.next()
                self.skip_group("[", "]")
            self.expect("const")
            name = f"{owner}::{self.peek()}"
            self.note(name)
            self.next()
            self.expect("=")
            start = self.at
            while self.peek() != ";":
                self.next()
            self.told.members[name] = self.value(self.tokens[start:self.at])
            self.expect(";")

    def use(self, before):
        if self.take("{"):
            while not self.take("}"):
                self.use(before)
                self.take(",")
            return
        if self.take("*"):
            self.told.uses.append((*before, "*"))
            return
        self.take("::")
        path = (*before, self.next())
        if self.take("::"):
            return self.use(path)
        if self.take("as"):
            self.next()
        self.told.uses.append(path)

    # Types.

    def type(self):
        if self.take("*"):
            self.take("const") or self.take("mut")
            return Pointer(self.type())
        if self.take("&"):
            if self.kind() == "lifetime":
                self.next()
            self.take("mut")
            return Pointer(self.type())
        if self.take("("):
            self.expect(")")
            return UNIT
        if self.take("!"):
            return UNIT
        if self.take("["):
            of = self.type()
            while not self.take("]"):
                self.next()
            return Array(of)
        self.take("unsafe")
        if self.take("extern"):
            if self.kind() == "string":
                self.next()
            self.expect("fn")
            return self.signature()
        if self.take("fn"):
            return self.signature()
        if self.kind() != "word":
            raise NotUnderstood(f"{self.name}:{self.line()}: '{self.peek()}' where a type was expected")
        name = self.next()
        while self.take("::"):
            if self.peek() == "<":
                break
            name = self.next()
        if self.peek() == "<":
            self.next()
            inner = self.type()
            while not self.take(">"):
                self.next()
            if name == "Option":
                return inner  # nullable, of the same form
            if name == "NonNull":
                return Pointer(inner)
            raise NotUnderstood(f"{self.name}:{self.line()}: the type {name}<…>")
        return Name(name)
