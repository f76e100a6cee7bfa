"""The table behind ``app/sentences.py``: every code with its three parts.

The empty code is the answer to a code that nobody has written a sentence for: it promises nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from app.kept_sentences import DRAFTS, SETTINGS, STORAGE
from app.running_sentences import HOSTS, PROGRAM, SESSIONS
from app.sentence_parts import Parts

SENTENCES: Mapping[str, Parts] = MappingProxyType({**STORAGE, **DRAFTS, **SETTINGS, **SESSIONS, **HOSTS, **PROGRAM})
