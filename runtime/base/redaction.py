"""The one detector of secrets (spec/quality.md section 3): logs, frames, exports and crash files go through it.

It errs on the side of removing: a false alarm costs a word, a miss publishes a key. Every pattern is bounded,
so that hostile text costs time in proportion to its length.
"""

from __future__ import annotations

import re

MARK = "[redacted]"

_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?"
    r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.DOTALL,
)
_JWT = re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?")
_KEY_SHAPES = re.compile(
    r"""(?<![A-Za-z0-9_])(?:
        sk-(?:ant-|proj-|or-|svcacct-|admin-)?[A-Za-z0-9_-]{16,}      # OpenAI, Anthropic, OpenRouter and their kin
      | (?:gh[pousr]|ghs)_[A-Za-z0-9]{20,} | github_pat_[A-Za-z0-9_]{22,} | glpat-[A-Za-z0-9_-]{16,}
      | xox[abeprs]-[A-Za-z0-9-]{10,} | xapp-[A-Za-z0-9-]{10,}
      | (?:AKIA|ASIA)[A-Z0-9]{16} | AIza[A-Za-z0-9_-]{30,} | ya29\.[A-Za-z0-9_-]{20,}
      | hf_[A-Za-z0-9]{20,} | gsk_[A-Za-z0-9]{20,} | xai-[A-Za-z0-9]{20,} | r8_[A-Za-z0-9]{20,}
      | nvapi-[A-Za-z0-9_-]{20,}
      | npm_[A-Za-z0-9]{30,} | pypi-[A-Za-z0-9_-]{30,} | dop_v1_[a-f0-9]{40,}
      | SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}
      | [rs]k_(?:live|test)_[A-Za-z0-9]{16,} | AGE-SECRET-KEY-1[A-Z0-9]{40,}
    )""",
    re.VERBOSE,
)
_HEADER = re.compile(
    r"(?i)\b((?:proxy-)?authorization|x-api-key|api-key|x-auth-token|cookie|set-cookie)(\"?'?\s{0,4}[:=]\s{0,4}\"?'?)"
    r"(?:(bearer|basic|token|digest)\s{1,4})?[^\s\"'][^\r\n\"']{0,4000}"
)
_BEARER = re.compile(r"(?i)\b(bearer|basic)(\s{1,4})(?=[^\s]{0,200}[0-9=_.+/-])[A-Za-z0-9._~+/-]{12,}=*")
_URL_PASSWORD = re.compile(r"(\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s/:@]{0,100}:)[^\s/@]{1,200}(?=@)")
_WORD = (
    r"(?:api[_-]?key|secret(?:[_-]?(?:key|access[_-]?key))?|passwo?r?d|passphrase|pwd|token|access[_-]?key|private[_-]?key"
    r"|credentials?)"
)
_QUOTED = re.compile(
    rf"(?i)(?<![A-Za-z0-9])([\w.-]{{0,40}}{_WORD}[\"']?\s{{0,4}}(?::|=|=>)\s{{0,4}})([\"'])([^\"'\r\n]{{4,4000}})\2"
)
_BARE = re.compile(
    rf"(?i)(?:([?&])|(?<![A-Za-z0-9]))([\w.-]{{0,40}}{_WORD})(\s{{0,4}}[:=]\s{{0,4}})([^\s\"'&,;)\]}}]{{4,4000}})"
)
_PLACEHOLDER = re.compile(
    r"(?i)^(?:[<$%{*].*|x{3,}.*|\.{3}.*|your[ _-].*|.*[(\[].*|none|null|true|false|str(?:ing)?|bytes)$"
)


def redact(text: str) -> str:
    """``text`` with every secret replaced by ``[redacted]``; names of headers and settings stay readable."""
    text = _PRIVATE_KEY.sub(MARK, text)
    text = _URL_PASSWORD.sub(rf"\1{MARK}", text)
    text = _HEADER.sub(_header, text)
    text = _BEARER.sub(rf"\1\2{MARK}", text)
    text = _JWT.sub(MARK, text)
    text = _KEY_SHAPES.sub(MARK, text)
    text = _QUOTED.sub(_quoted, text)
    return _BARE.sub(_bare, text)


def contains_secret(text: str) -> bool:
    """Whether :func:`redact` would change ``text``."""
    return redact(text) != text


def _header(match: re.Match[str]) -> str:
    scheme = f"{match[3]} " if match[3] else ""
    value = match[0][len(match[1]) + len(match[2]) :]
    return match[0] if _PLACEHOLDER.match(value) else f"{match[1]}{match[2]}{scheme}{MARK}"


def _quoted(match: re.Match[str]) -> str:
    if _PLACEHOLDER.match(match[3]) or match[3] == MARK:
        return match[0]
    return f"{match[1]}{match[2]}{MARK}{match[2]}"


def _bare(match: re.Match[str]) -> str:
    query, name, sign, value = match[1] or "", match[2], match[3], match[4]
    if value.startswith(MARK) or _PLACEHOLDER.match(value):
        return match[0]
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    tight = sign == "="
    # NAME=value and ?name=value are settings; "name = value" and "name: value" may be code or prose, where only
    # something that looks like a key counts.
    if (tight and (query or name.isupper())) or mixed or len(value) >= 24:
        return f"{query}{name}{sign}{MARK}"
    return match[0]
