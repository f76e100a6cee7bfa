"""The command line: parsing and exit statuses. Qt-free; the window is one of its commands.

Exit status (spec/shell.md section 5): 0 done, 1 failed, 2 wrong use, 3 refused, 4 outcome unknown; 130 stopped by
a signal.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from app.commands.failing import explain, status_of
from app.commands.output import prepare_streams, say
from app.sentences import sentence
from app.version import VERSION
from runtime.base.errors import Fault
from runtime.base.folder import DataFolder
from runtime.base.loading import load_now

COMMANDS = ("send", "drafts", "sessions", "doctor", "models")
WRONG_USE = 2
STOPPED = 130
_DATA_DIR = "--data-dir"


class Parser(argparse.ArgumentParser):
    """Says what is wrong as the rest of the program does, and takes options only in full."""

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, allow_abbrev=False, **options)  # type: ignore[arg-type]  # pyright: ignore

    def error(self, message: str) -> NoReturn:
        self.refuse(f"inkfast: {message[:1].upper()}{message[1:]}.\nNothing was changed.")

    def understand(self, arguments: Sequence[str]) -> argparse.Namespace:
        """The options; exits with 2 and a sentence for what is not understood."""
        options, strays = self.parse_known_args(arguments)
        if strays:
            words = sentence("bad_option", {"option": strays[0]})
            self.refuse(f"inkfast: {words.what}\n{words.safe}")
        return options

    def refuse(self, text: str) -> NoReturn:
        say(f"{text}\nRun “{self.prog} --help” for what can be used; text that begins with a dash goes after “--”.")
        sys.exit(WRONG_USE)


def _common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(_DATA_DIR, metavar="DIR", help="use this data folder instead of the default one")


def _json(parser: argparse.ArgumentParser) -> None:
    _common(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def window_parser() -> Parser:
    """``inkfast [PATH]``: the window."""
    parser = Parser(
        prog="inkfast",
        description="Local conversations with models that keep every word.",
        epilog="Commands without a window: " + ", ".join(COMMANDS) + ". Ask each with --help.",
    )
    parser.add_argument("path", nargs="?", metavar="PATH", help="open this folder as a workspace")
    parser.add_argument("--safe-mode", action="store_true", help="do not reopen what was open last; it stays listed")
    parser.add_argument("--version", action="version", version=f"inkfast {VERSION}")
    _common(parser)
    return parser


def command_parser() -> Parser:
    """``inkfast COMMAND …``: everything that needs no window."""
    parser = Parser(prog="inkfast")
    commands = parser.add_subparsers(dest="command", required=True)
    send = commands.add_parser("send", help="send a text as a new conversation and run its answer")
    send.add_argument("--workspace", metavar="PATH", help="the folder it belongs to (default: none, global)")
    send.add_argument("--model", default="", help="a model reference as `inkfast models list` shows it")
    send.add_argument("--effort", default="", help="reasoning effort, if the model offers it")
    send.add_argument("--file", action="append", default=[], metavar="F", help="a text file to include; repeatable")
    send.add_argument("--wait", action="store_true", help="stream the answer to the standard output")
    send.add_argument("text", metavar="TEXT", help="the text, or - for the standard input (UTF-8)")
    _json(send)
    _drafts(commands.add_parser("drafts", help="list, show or discard unsent drafts"))
    _sessions(commands.add_parser("sessions", help="list or show conversations"))
    _json(commands.add_parser("doctor", help="check this installation and the data folder; prints no content"))
    _models(commands.add_parser("models", help="list models or add a GGUF file"))
    return parser


def _drafts(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", required=True)
    _json(verbs.add_parser("list", help="unsent drafts, newest first"))
    for verb, words in (("show", "print a draft"), ("discard", "discard a draft")):
        command = verbs.add_parser(verb, help=words)
        command.add_argument("id", metavar="ID")
        _json(command)


def _sessions(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", required=True)
    _json(verbs.add_parser("list", help="conversations, newest first"))
    show = verbs.add_parser("show", help="print a conversation")
    show.add_argument("id", metavar="ID")
    _json(show)


def _models(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", required=True)
    _json(verbs.add_parser("list", help="models that can be chosen"))
    add = verbs.add_parser("add", help="copy a GGUF file into the models folder")
    add.add_argument("file", metavar="FILE")
    _json(add)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; returns the exit status."""
    prepare_streams()
    try:
        return _main(list(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:
        return STOPPED


def _main(given: list[str]) -> int:
    arguments, folder = _folder_first(given)
    if arguments and arguments[0] in COMMANDS:
        options = command_parser().understand(arguments)
        options.data_dir = options.data_dir or folder
        return _guarded(options)
    options = window_parser().understand(arguments)
    boot = load_now("app.boot")
    return int(boot.start(DataFolder.locate(options.data_dir or folder), options.path, safe_mode=options.safe_mode))


def _folder_first(arguments: list[str]) -> tuple[list[str], str | None]:
    """``inkfast --data-dir DIR COMMAND`` means ``inkfast COMMAND --data-dir DIR``, never a window on "COMMAND"."""
    if arguments[:1] == [_DATA_DIR] and len(arguments) > 1:
        return arguments[2:], arguments[1]
    if arguments and arguments[0].startswith(_DATA_DIR + "="):
        return arguments[1:], arguments[0].partition("=")[2]
    return arguments, None


def _guarded(options: argparse.Namespace) -> int:
    try:
        return int(load_now("app.commands.main").run(options))
    except Fault as fault:
        explain(fault)
        return status_of(fault)
