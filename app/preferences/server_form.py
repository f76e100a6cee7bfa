"""What a person enters about a model server, and whether it can be used. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

EXAMPLES = (
    ("Ollama", "http://localhost:11434/v1"),
    ("LM Studio", "http://localhost:1234/v1"),
    ("llama.cpp", "http://localhost:8080/v1"),
    ("vLLM", "http://localhost:8000/v1"),
)
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class ServerForm:
    """Name, address without a final slash, key (empty: none) and the model to begin with."""

    name: str
    base_url: str
    api_key: str
    model: str

    def __repr__(self) -> str:
        """Without the key: a representation may end up in a log."""
        return f"ServerForm(name={self.name!r}, base_url={self.base_url!r}, model={self.model!r})"


@dataclass(frozen=True, slots=True)
class CheckedUrl:
    """``url`` is empty while ``problem`` says what is wrong; ``warning`` does not prevent anything."""

    url: str
    problem: str = ""
    warning: str = ""


def check_base_url(text: str) -> CheckedUrl:
    """The address of an OpenAI-compatible server, normalised, or what is wrong with it in one sentence."""
    entered = text.strip()
    if not entered:
        return CheckedUrl("", "Enter the address of the server.")
    if any(character.isspace() for character in entered):
        return CheckedUrl("", "An address has no spaces.")
    try:
        parts = urlsplit(entered if "://" in entered else f"http://{entered}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return CheckedUrl("", "This is not an address; the port is a number up to 65535.")
    if parts.scheme.lower() not in ("http", "https"):
        return CheckedUrl("", "The address begins with http:// or https://.")
    if not host:
        return CheckedUrl("", "The address has no host.")
    if parts.username or parts.password:
        return CheckedUrl("", "Put the key into its own field, not into the address.")
    if parts.query or parts.fragment:
        return CheckedUrl("", "The address has no “?” or “#” part.")
    shown = f"[{host}]" if ":" in host else host
    netloc = shown if port is None else f"{shown}:{port}"
    path = parts.path.rstrip("/")
    for ending in ("/chat/completions", "/completions", "/models"):
        path = path.removesuffix(ending)
    url = urlunsplit((parts.scheme.lower(), netloc, path, "", ""))
    plain = parts.scheme.lower() == "http" and host.lower() not in _LOOPBACK
    return CheckedUrl(url, "", "Without https, text and key travel unencrypted." if plain else "")


def suggested_name(url: str) -> str:
    """A name for a server whose address is one of the examples, else its host."""
    for name, example in EXAMPLES:
        if url == example or url == example.replace("localhost", "127.0.0.1"):
            return name
    return urlsplit(url).hostname or ""
