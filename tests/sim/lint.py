"""A linter for code that runs in the simulation: everything there must be decided by the seed.

`faults` reads a source file and reports each line with a clock, a random value, a thread, a task without
a reference, the order of a set, or a swallowed error.
"""

import ast
from collections.abc import Callable, Iterator
from typing import Any, Final

from tests.sim.setlint import SetOrders

MODULES: Final = {
    "time": "a clock",
    "uuid": "chance; ask the environment",
    "secrets": "chance; ask the environment",
    "threading": "a thread",
    "_thread": "a thread",
    "multiprocessing": "a process",
    "concurrent": "a thread",
    "queue": "a queue of threads",
    "sched": "a clock",
}
CALLS: Final = {
    "datetime.now": "a clock; ask the environment",
    "datetime.utcnow": "a clock; ask the environment",
    "datetime.today": "a clock; ask the environment",
    "date.today": "a clock; ask the environment",
    "os.urandom": "chance; ask the environment",
    "os.getrandom": "chance; ask the environment",
    "Random": "chance; ask the environment",
    "random.Random": "chance; ask the environment",
    "SystemRandom": "chance; ask the environment",
    "hash": "a hash differs from process to process",
    "asyncio.to_thread": "a thread",
    "asyncio.create_task": "a task that nothing refers to; use Scope.spawn",
    "asyncio.ensure_future": "a task that nothing refers to; use Scope.spawn",
    "asyncio.all_tasks": "its order is arbitrary",
    "asyncio.TaskGroup": "it cancels in no order; use Scope",
    "asyncio.gather": "it cancels in no order; use Scope",
    "asyncio.as_completed": "its order is arbitrary",
}
METHODS: Final = {
    "run_in_executor": "a thread",
    "create_task": "a task that nothing refers to; use Scope.spawn",
}
ORDERING: Final = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
BLIND: Final = ("Exception", "BaseException")


def faults(source: str, *, spawns: bool = False) -> list[str]:
    """One line for each fault. Only the file that ``spawns`` may start tasks, for all others."""
    tree = ast.parse(source)
    found = [*SetOrders(tree).found()]
    for node in ast.walk(tree):
        found += [(node.lineno, why) for why in _judged(node)]  # type: ignore[attr-defined] # all have
    wanted = sorted(set(found))
    return [f"line {line}: {why}" for line, why in wanted if not (spawns and ".spawn" in why)]


def _judged(node: ast.AST) -> Iterator[str]:
    judge = _JUDGES.get(type(node))
    return iter(()) if judge is None else judge(node)


def _imported(node: ast.Import) -> Iterator[str]:
    for module in (alias.name for alias in node.names):
        root = module.partition(".")[0]
        if root in MODULES:
            yield f"import {module}: {MODULES[root]}"
        if root == "random":
            yield "import random: chance; ask the environment"


def _taken_from(node: ast.ImportFrom) -> Iterator[str]:
    module, names = node.module or "", [alias.name for alias in node.names]
    root = module.partition(".")[0]
    if root in MODULES:
        yield f"from {module}: {MODULES[root]}"
    if root == "random" and names != ["Random"]:
        yield "from random: chance; ask the environment"
    for name in names:
        whole = f"{module}.{name}"
        if whole in CALLS and whole != "random.Random":  # a type as well as a maker
            yield f"{whole}: {CALLS[whole]}"


def _defined(node: ast.FunctionDef) -> Iterator[str]:
    if node.name == "__del__":
        yield "__del__: it runs when the collector likes"


def _assigned(node: ast.Assign) -> Iterator[str]:
    match node.value:
        case ast.Await(value=ast.Call() as call) if _is_wait(call) and not _waits_for_one(call):
            yield "asyncio.wait: its result is two sets, in no order"
        case _:
            return


def _sorted_by(node: ast.keyword) -> Iterator[str]:
    if node.arg == "key" and _orders_by_id(node.value):
        yield "id(): an order by address"


def _called(node: ast.Call) -> Iterator[str]:
    name = _dotted(node.func)
    if name in CALLS:
        yield f"{name}: {CALLS[name]}"
    short = ".".join(name.split(".")[-2:])
    if short != name and short in CALLS and short.startswith("date"):
        yield f"{name}: {CALLS[short]}"
    if isinstance(node.func, ast.Attribute):
        method = node.func.attr
        if method in METHODS and name not in CALLS:
            yield f"{method}: {METHODS[method]}"
    if name.split(".")[-1] == "suppress" and any(_dotted(arg) in BLIND for arg in node.args):
        yield "suppress(Exception): an error that is never reported"


def _caught(node: ast.ExceptHandler) -> Iterator[str]:
    """An exception of any type that is swallowed."""
    kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    blind = any(kind is None or _dotted(kind) in BLIND for kind in kinds)
    if blind and all(_says_nothing(line) for line in node.body):
        yield "except Exception: pass: an error that is never reported"


def _says_nothing(line: ast.stmt) -> bool:
    return isinstance(line, ast.Pass | ast.Continue | ast.Break) or (
        isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)
    )


def _compared(node: ast.Compare) -> Iterator[str]:
    sides = [node.left, *node.comparators]
    if any(isinstance(op, ORDERING) for op in node.ops) and any(map(_is_id, sides)):
        yield "id(): an order by address"


def _orders_by_id(value: ast.expr) -> bool:
    return (isinstance(value, ast.Name) and value.id == "id") or any(map(_is_id, ast.walk(value)))


def _is_id(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "id"


def _is_wait(call: ast.Call) -> bool:
    return _dotted(call.func) == "asyncio.wait"


def _waits_for_one(call: ast.Call) -> bool:
    return (
        bool(call.args)
        and isinstance(call.args[0], ast.List | ast.Tuple)
        and len(call.args[0].elts) == 1
        and not isinstance(call.args[0].elts[0], ast.Starred)
    )


def _dotted(node: ast.expr | None) -> str:
    """A dotted name; empty for any other expression."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr):
            before = _dotted(value)
            return f"{before}.{attr}" if before else attr
        case _:
            return ""


_JUDGES: Final[dict[type[ast.AST], Callable[[Any], Iterator[str]]]] = {
    ast.Import: _imported,
    ast.ImportFrom: _taken_from,
    ast.Call: _called,
    ast.FunctionDef: _defined,
    ast.ExceptHandler: _caught,
    ast.Compare: _compared,
    ast.Assign: _assigned,
    ast.keyword: _sorted_by,
}
