"""STYLE.md rules 3, 12, 13, 15: constructions that are known to lose work, and where exceptions are allowed."""

from __future__ import annotations

import ast
import re

from tests.architecture.tree import PROGRAM, ROOT, Module, called_name, modules, tracked_files

BROAD = {"Exception", "BaseException"}
# Where a broad handler may end without raising again.
MAY_CATCH_ALL = {
    "runtime/base/tasks.py": "the task supervisor",
    "runtime/base/subscribers.py": "the dispatcher",
    "runtime/base/crash.py": "the excepthook: a failing report must not hide the error",
    "runtime/base/import_thread.py": "carries the error from the import thread to the waiting task",
    "drafts/autosave.py": "autosave's retry",
    "app/boot_reader.py": "carries the error from the reader's thread to the boot code",
    "runtime/sessions/stream.py": "carries the host's failure from its reader to the turn",
    "drafts/attempt.py": "the dispatcher: every failure of the session side is a phase",
}
MAY_CREATE_TASKS = {
    "app/commands/main.py": "the one task of a command, so that SIGTERM ends the command but not its closing",
    "runtime/base/tasks.py": "the supervisor itself",
    "runtime/storage/database.py": "shields a transaction from the caller's cancellation and awaits it",
}
TASK_CALLS = {"create_task", "ensure_future", "run_in_executor", "to_thread", "run_coroutine_threadsafe"}
NESTED_LOOPS = {"exec", "exec_", "processEvents", "asyncSlot", "asyncClose", "QThread", "QThreadPool", "QEventLoop"}
SINGLETONS = re.compile(r"\b(QApplication|QGuiApplication|QCoreApplication)\.instance\(|\bqApp\b")


def _broad_and_silent(handler: ast.ExceptHandler) -> bool:
    kinds = [handler.type] if not isinstance(handler.type, ast.Tuple) else handler.type.elts
    broad = any(kind is None or (isinstance(kind, ast.Name) and kind.id in BROAD) for kind in kinds)
    return broad and not isinstance(handler.body[-1], ast.Raise)


def _uses(module: Module, names: set[str]) -> list[str]:
    return [f"{module.name}:{call.lineno} {called_name(call)}" for call in module.calls() if called_name(call) in names]


def test_broad_handlers_stand_only_where_they_are_listed() -> None:
    found = [
        f"{module.name}:{node.lineno}"
        for module in modules(*PROGRAM)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ExceptHandler) and _broad_and_silent(node) and module.name not in MAY_CATCH_ALL
    ]
    assert found == []


def test_tasks_start_only_through_the_supervisor() -> None:
    found = [use for m in modules(*PROGRAM) if m.name not in MAY_CREATE_TASKS for use in _uses(m, TASK_CALLS)]
    assert found == []


def test_no_nested_loops_and_no_qt_threads() -> None:
    assert [use for module in modules(*PROGRAM) for use in _uses(module, NESTED_LOOPS)] == []


def test_no_singletons_are_looked_up() -> None:
    assert [module.name for module in modules(*PROGRAM) if SINGLETONS.search(module.text)] == []


def test_slots_are_bound_methods_not_lambdas_that_hold_self() -> None:
    found: list[str] = []
    for module in modules("app"):
        for call in module.calls():
            if called_name(call) != "connect":
                continue
            for argument in call.args:
                if isinstance(argument, ast.Lambda) and "self" in {
                    node.id for node in ast.walk(argument) if isinstance(node, ast.Name)
                }:
                    found.append(f"{module.name}:{call.lineno}")
    assert found == []


def test_unit_tests_never_wait_for_wall_time() -> None:
    found = [
        f"{module.name}:{call.lineno}"
        for module in modules("tests/unit")
        for call in module.calls()
        if called_name(call) == "sleep"
        and isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id in {"asyncio", "time"}
        and not (call.args and isinstance(call.args[0], ast.Constant) and call.args[0].value == 0)
    ]
    assert found == []


def test_no_machine_paths_and_no_registry_hosts_in_the_tree() -> None:
    # Written in pieces so that this file does not find itself.
    machine = re.compile(
        "|".join(("/ro" + "ot/", "/wo" + "rk/", "/opt/" + "pypi", "/opt/" + "wheels", r"\.pyenv" + "/versions")),
    )
    hosts = re.compile("|".join(("pypi" + r"\.org", "python" + "hosted", "registry" + r"\.npmjs", "deb" + r"\.debian")))
    found: list[str] = []
    for path in tracked_files():
        text = path.read_bytes().decode("utf-8", errors="ignore")
        if machine.search(text) or hosts.search(text):
            found.append(path.relative_to(ROOT).as_posix())
    assert found == []
