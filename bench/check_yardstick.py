"""What the checker is measured against: an ast.NodeVisitor that applies the strict rules in Python.

It is written the way one writes such a thing: a pass that collects what binds names, and a pass
that looks at every node. It knows fewer roads than the checker in C, so the comparison flatters it.
"""
import ast
import builtins
import json
import string
import sys
import time

ALLOWED_IMPORTS = frozenset("""asyncio pathlib json math datetime time itertools functools collections
typing dataclasses decimal fractions re base64 hashlib uuid random os""".split())
BLOCKED_IMPORTS = frozenset("""sys subprocess socket urllib requests http ftplib smtplib telnetlib
multiprocessing threading ctypes shutil tempfile importlib builtins""".split())
ALLOWED_BUILTINS = frozenset("""print len str int float bool list dict tuple set frozenset range enumerate
zip map filter sorted reversed sum min max abs round pow divmod all any chr ord hex oct bin format repr
ascii bytes bytearray memoryview isinstance issubclass callable type id hash next iter slice object super
property staticmethod classmethod complex NotImplemented Ellipsis""".split())
BLOCKED_BUILTINS = frozenset("""eval exec compile __import__ globals locals vars dir open input help
breakpoint exit quit copyright credits license delattr getattr setattr hasattr""".split())
OS_ATTRS = frozenset({"environ", "path"})
BUILTINS = frozenset(dir(builtins))
EXCEPTIONS = frozenset(n for n, v in vars(builtins).items()
                       if isinstance(v, type) and issubclass(v, BaseException))
DUNDERS = frozenset("""__name__ __qualname__ __doc__ __class__ __module__ __init__ __new__ __str__ __repr__
__eq__ __hash__ __len__ __iter__ __next__ __enter__ __exit__ __aenter__ __aexit__ __call__ __getitem__
__setitem__ __contains__ __post_init__ __add__ __wrapped__ __cause__ __context__""".split())
INTERNALS = frozenset("""gi_frame gi_code cr_frame cr_code ag_frame tb_frame tb_next f_back f_globals
f_locals f_builtins f_code co_code co_consts mro""".split())
COMMANDS = frozenset("system popen execv execl spawn remove rmdir unlink environ".split())

RULES = {"policy": "strict", "patterns": "block", "allow_imports": sorted(ALLOWED_IMPORTS),
         "block_imports": sorted(BLOCKED_IMPORTS), "allow_builtins": sorted(ALLOWED_BUILTINS),
         "block_builtins": sorted(BLOCKED_BUILTINS), "allow_os_attrs": sorted(OS_ATTRS), "tools": []}


class Scope:
    def __init__(self, parent, is_class=False):
        self.parent, self.is_class, self.names, self.modules = parent, is_class, set(), {}

    def find(self, name):
        scope, first = self, True
        while scope:
            if name in scope.names and (first or not scope.is_class):
                return scope
            scope, first = scope.parent, False
        return None


class Binder(ast.NodeVisitor):
    """Who binds what: a scope for each function, class and comprehension."""

    def __init__(self):
        self.scope = self.top = Scope(None)
        self.scopes, self.own = {}, set()

    def inside(self, node, parts, is_class=False):
        outer, self.scope = self.scope, Scope(self.scope, is_class)
        self.scopes[node] = self.scope
        for part in parts:
            self.visit(part)
        self.scope = outer

    def visit_FunctionDef(self, node):
        self.scope.names.add(node.name)
        if self.scope.is_class:
            self.own.add(node.name)
        for part in (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(part)
        self.inside(node, [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs,
                           *filter(None, [node.args.vararg, node.args.kwarg]), *node.body])

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        for part in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(part)
        self.inside(node, [*node.args.args, node.body])

    def visit_ClassDef(self, node):
        self.scope.names.add(node.name)
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)
        self.inside(node, node.body, is_class=True)

    def comprehension(self, node):
        self.inside(node, ast.iter_child_nodes(node))

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = comprehension

    def visit_arg(self, node):
        self.scope.names.add(node.arg)

    def visit_Name(self, node):
        if not isinstance(node.ctx, ast.Load):
            self.scope.names.add(node.id)
            if self.scope.is_class:
                self.own.add(node.id)

    def visit_Attribute(self, node):
        if isinstance(node.ctx, ast.Store):
            self.own.add(node.attr)
        self.visit(node.value)

    def visit_Import(self, node):
        for alias in node.names:
            name = alias.asname or alias.name.split(".")[0]
            self.scope.names.add(name)
            self.scope.modules[name] = alias.name if alias.asname else name

    def visit_ImportFrom(self, node):
        for alias in node.names:
            name = alias.asname or alias.name
            self.scope.names.add(name)
            self.scope.modules[name] = f"{node.module}.{alias.name}"

    def visit_ExceptHandler(self, node):
        if node.name:
            self.scope.names.add(node.name)
        self.generic_visit(node)

    def visit_Global(self, node):
        self.top.names.update(node.names)


class Strict(ast.NodeVisitor):
    def __init__(self, binder):
        self.scopes, self.own, self.scope = binder.scopes, binder.own, binder.top
        self.findings, self.risk = [], 0

    def found(self, node, rule, name):
        self.findings.append({"rule": rule, "name": name, "line": node.lineno, "column": node.col_offset})

    def visit(self, node):
        scope = self.scopes.get(node)
        if scope is None:
            return super().visit(node)
        outer, self.scope = self.scope, scope
        super().visit(node)
        self.scope = outer
        return None

    def module_of(self, node):
        """The dotted name that an expression stands for."""
        if isinstance(node, ast.Attribute):
            base = self.module_of(node.value)
            return f"{base}.{node.attr}" if base else None
        if isinstance(node, ast.Name):
            scope = self.scope.find(node.id)
            return scope.modules.get(node.id) if scope else None
        return None

    def check_import(self, node, name):
        root = name.split(".")[0]
        if root in BLOCKED_IMPORTS or root not in ALLOWED_IMPORTS:
            self.found(node, "import", name)
        if root in ("subprocess", "multiprocessing", "threading"):
            self.risk += 5

    def visit_Import(self, node):
        for alias in node.names:
            self.check_import(node, alias.name)

    def visit_ImportFrom(self, node):
        if node.level or not node.module:
            self.found(node, "import-relative", node.module)
            return
        self.check_import(node, node.module)
        for alias in node.names:
            self.check_member(node, f"{node.module}.{alias.name}")

    def check_member(self, node, dotted):
        root, _, rest = dotted.partition(".")
        first = rest.split(".")[0]
        if root == "os" and first not in OS_ATTRS:
            self.found(node, "os-attribute", dotted)
            self.risk += 10 if first in COMMANDS else 0
        elif first.startswith("_"):
            self.found(node, "private-name", dotted)

    def visit_Name(self, node):
        if not isinstance(node.ctx, ast.Load):
            return
        name = node.id
        scope = self.scope.find(name)
        if scope is None:
            if name in BLOCKED_BUILTINS:
                self.found(node, "builtin", name)
                self.risk += 10 if name in ("eval", "exec", "compile", "__import__") else 0
            elif name in BUILTINS and name not in ALLOWED_BUILTINS and name not in EXCEPTIONS:
                self.found(node, "builtin", name)
            elif name.startswith("__") and name.endswith("__") and name not in ("__name__", "__doc__"):
                self.found(node, "dunder-name", name)
        elif "." not in scope.modules.get(name, "."):
            self.found(node, "module-escape", name)

    def visit_Attribute(self, node):
        name = node.attr
        dotted = self.module_of(node)
        if dotted:
            self.check_member(node, dotted)
        if name.startswith("__") and name.endswith("__"):
            if name not in DUNDERS:
                self.found(node, "dunder-attribute", name)
                self.risk += 3
        elif name in INTERNALS or (name.startswith("_") and name not in self.own and not dotted):
            self.found(node, "private-attribute", name)
        elif name in ("format", "format_map"):
            self.check_template(node)
        if not (isinstance(node.value, ast.Name) and dotted):
            self.visit(node.value)

    def check_template(self, node):
        if not (isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)):
            self.found(node, "format-template", node.attr)
            return
        for _, field, _, _ in string.Formatter().parse(node.value.value):
            if field and "." in field:
                self.found(node, "format-attribute", field)

    def visit_MatchClass(self, node):
        for name in node.kwd_attrs:
            if name.startswith("_") or name in INTERNALS:
                self.found(node, "pattern-attribute", name)
        self.generic_visit(node)

    def visit_While(self, node):
        if isinstance(node.test, ast.Constant) and node.test.value and not any(
                isinstance(n, (ast.Break, ast.Return, ast.Raise)) for n in ast.walk(node)):
            self.risk += 5
        self.generic_visit(node)

    def visit_Constant(self, node):
        if isinstance(node.value, str):
            text = node.value.lower()
            if "rm -rf /" in text or "mkfs." in text or "dd if=/dev" in text:
                self.found(node, "pattern-shell-text", "")
                self.risk += 10

    def visit_For(self, node):
        call = node.iter
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range" and \
                call.args and isinstance(call.args[-1], ast.Constant) and call.args[-1].value > 1_000_000:
            self.risk += 3
        self.generic_visit(node)


def check(tree):
    binder = Binder()
    binder.visit(tree)
    strict = Strict(binder)
    strict.visit(tree)
    return strict.findings, strict.risk


def program(size=40):
    """An ordinary program, of about the length that models write, times `size`."""
    part = '''
@dataclass
class Item{n}:
    name: str
    price: Decimal = Decimal("0")
    tags: list = field(default_factory=list)

    def total(self, count, *, discount=0):
        """What this many cost."""
        if count < 0:
            raise ValueError(f"count must not be negative: {{count}}")
        return self.price * count * (1 - Decimal(discount) / 100)

    def matches(self, text):
        return re.search(text, self.name, re.I) is not None or text in self.tags


def load{n}(lines):
    items, errors = [], []
    for number, line in enumerate(lines, 1):
        try:
            data = json.loads(line)
            items.append(Item{n}(data["name"], Decimal(str(data["price"])), data.get("tags", [])))
        except (KeyError, json.JSONDecodeError) as error:
            errors.append((number, str(error)))
    return items, errors


def summary{n}(items):
    by_tag = collections.defaultdict(list)
    for item in items:
        for tag in item.tags or ["none"]:
            by_tag[tag].append(item)
    return {{tag: {{"count": len(found), "mean": sum(i.price for i in found) / len(found)}}
            for tag, found in sorted(by_tag.items()) if found}}


items, errors = load{n}(["{{\\"name\\": \\"a\\", \\"price\\": 1.5}}", "nonsense"])
print("{{}} items, {{:>4}} errors".format(len(items), len(errors)), summary{n}(items))
when = datetime.datetime.now() + datetime.timedelta(days={n})
print(os.path.join("out", when.strftime("%Y-%m-%d")), [i.total(2) for i in items if i.matches("a")])
'''
    head = "import collections, datetime, json, os, re\nfrom dataclasses import dataclass, field\n" \
           "from decimal import Decimal\n"
    return head + "".join(part.format(n=n) for n in range(size))


def best(function, rounds):
    times = []
    for _ in range(rounds):
        began = time.perf_counter_ns()
        function()
        times.append(time.perf_counter_ns() - began)
    return min(times)


def main(build, rounds=5, size=4):
    """Prints nanoseconds a check over the ready tree: in C, and here."""
    sys.path.insert(0, build)
    import _glovebox
    tree = ast.parse(program(size))
    rules = json.dumps(RULES)
    _glovebox.check_parsed(tree, rules, 1)
    ours = min(_glovebox.check_parsed(tree, rules, 10) for _ in range(rounds))
    theirs = best(lambda: check(tree), rounds)
    findings = check(tree)[0]
    print(json.dumps({"c_ns": ours, "visitor_ns": theirs, "nodes": sum(1 for _ in ast.walk(tree)),
                      "visitor_findings": len(findings)}))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
