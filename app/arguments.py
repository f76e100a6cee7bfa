"""What the command line accepts. Apart from cli.py because a start without arguments parses nothing."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from app.version import VERSION

COMMANDS = ("send", "drafts", "sessions", "doctor", "models")


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options; ``command`` is empty for the window. Wrong use ends the process with status 2, as argparse does."""
    if arguments and arguments[0] in COMMANDS:
        return command_parser().parse_args(arguments)
    return window_parser().parse_args(arguments)


def _common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data-dir", metavar="DIR", help="use this data folder instead of the default one")


def _json(parser: argparse.ArgumentParser) -> None:
    _common(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def window_parser() -> argparse.ArgumentParser:
    """``inkfast [PATH]``: the window."""
    parser = argparse.ArgumentParser(
        prog="inkfast",
        description="Local conversations with models that keep every word.",
        epilog="Commands without a window: " + ", ".join(COMMANDS) + ". Ask each with --help.",
    )
    parser.add_argument("path", nargs="?", metavar="PATH", help="open this folder as a workspace")
    parser.add_argument("--safe-mode", action="store_true", help="list drafts but load none")
    parser.add_argument("--version", action="version", version=f"inkfast {VERSION}")
    parser.set_defaults(command="")
    _common(parser)
    return parser


def command_parser() -> argparse.ArgumentParser:
    """``inkfast COMMAND …``: everything that needs no window."""
    parser = argparse.ArgumentParser(prog="inkfast")
    commands = parser.add_subparsers(dest="command", required=True)
    send = commands.add_parser("send", help="send a text as a new conversation and run its answer")
    send.add_argument("--workspace", metavar="PATH", help="the folder it belongs to (default: none, global)")
    send.add_argument("--model", default="", help="a model reference as `inkfast models list` shows it")
    send.add_argument("--effort", default="", help="reasoning effort, if the model offers it")
    send.add_argument("--wait", action="store_true", help="stream the answer to the standard output")
    send.add_argument("text", metavar="TEXT", help="the text, or - for the standard input")
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
