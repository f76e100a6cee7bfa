"""One detector of secrets, with a corpus of true and false examples (spec/quality.md section 3).

The true examples are put together from pieces, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.base.redaction import MARK, contains_secret, redact

R = "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb3dEf6h"
HEX = "0123456789abcdef" * 4

TRUE = {
    "openai": f"sk-{R}",
    "openai project": f"use sk-proj-{R} here",
    "anthropic": f"(sk-ant-api03-{R})",
    "github classic": f"ghp_{R}",
    "github fine": f"github_pat_{R}",
    "gitlab": f"glpat-{R[:20]}",
    "slack": f"xoxb-1234567890-{R}",
    "aws id": "AKIA" + "ABCDEFGHIJ234567",
    "google": f"AIza{R[:35]}",
    "hugging face": f"hf_{R}",
    "groq": f"gsk_{R}",
    "npm": f"npm_{R}",
    "stripe": f"sk_live_{R}",
    "sendgrid": f"SG.{R[:22]}.{R}",
    "age": "AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L" * 2,
    "jwt": f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.{R}",
    "bearer": f"Authorization: Bearer {R}",
    "bearer in json": f'{{"Authorization": "Bearer {R}"}}',
    "bearer alone": f"curl -H 'bearer {R}'",
    "basic": "authorization: Basic dXNlcjpwYXNzd29yZA==",
    "x-api-key": f"x-api-key: {R}",
    "cookie": f"Set-Cookie: session={R}; Path=/",
    "url": "postgres://anna:" + "s3cret" + "@db.local/main",
    "private key": f"-----BEGIN OPENSSH PRIVATE KEY-----\n{R}\n{R}\n-----END OPENSSH PRIVATE KEY-----",
    "private key cut off": f"-----BEGIN RSA PRIVATE KEY-----\n{R}",
    "environment": "PASSWORD=swordfish",
    "dotenv": f"export OPENAI_API_KEY={R}",
    "json": '{"password": "swordfish"}',
    "python": "client_secret = 'swordfish'",
    "yaml": f"api_key: {R}",
    "query": "GET /v1/models?token=swordfish HTTP/1.1",
    "aws secret": f"aws_secret_access_key = {R}",
}
FALSE = {
    "empty": "",
    "prose": "The secret: patience wins. A token of thanks, and the password is in the safe.",
    "tokens": "max_tokens=4096, 1,000 tokens/s, prompt_tokens: 12",
    "annotation": "def login(token: str, password: str | None = None) -> None:",
    "keyword argument": "connect(password=password, token=next_token)",
    "placeholder": "OPENAI_API_KEY=<your-key-here> or API_KEY=${OPENAI_API_KEY} or api_key='...'",
    "environment look-up": 'api_key = os.environ["OPENAI_API_KEY"]',
    "digest": f"sha256:{HEX}",
    "uuid": "drf-01934c6e-5b1a-7c3d-9e2f-0123456789ab",
    "path": "/srv/data/tokens/index.json",
    "url": "http://127.0.0.1:11434/v1/chat/completions",
    "address": "git@example.org:anna/inkfast.git",
    "public key": "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYI\n-----END PUBLIC KEY-----",
    "words with sk": "a task-oriented desk-lamp, risk-assessment-for-everyone",
    "model": "local:smollm2-135m",
    "basic": "basic understanding of the bearer certificate",
    "cjk": "密码: 见附件",
}


@pytest.mark.parametrize("text", TRUE.values(), ids=TRUE.keys())
def test_a_secret_is_removed(text: str) -> None:
    cleaned = redact(text)
    assert MARK in cleaned
    for secret in (R, R[:20], "swordfish", "s3cret", "dXNlcjpwYXNzd29yZA", "ABCDEFGHIJ234567", "QPZRY9X8"):
        assert secret not in cleaned
    assert contains_secret(text)


@pytest.mark.parametrize("text", FALSE.values(), ids=FALSE.keys())
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text
    assert not contains_secret(text)


@pytest.mark.parametrize("name", ["environment", "yaml", "json", "bearer", "url", "query"])
def test_the_name_of_the_setting_stays_readable(name: str) -> None:
    cleaned = redact(TRUE[name])
    kept = {"environment": "PASSWORD=", "yaml": "api_key:", "json": '"password":', "bearer": "Bearer", "url": "anna:"}
    assert kept.get(name, "?token=") in cleaned


@given(st.text(max_size=300))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@pytest.mark.parametrize("text", TRUE.values(), ids=TRUE.keys())
def test_a_secret_is_removed_once_and_for_all(text: str) -> None:
    assert redact(redact(text)) == redact(text)


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "unit", ["a", "a.", "token", "sk-", "-----BEGIN PRIVATE KEY-----", "eyJ", "password=", '"', "x:"]
)
def test_hostile_text_costs_time_in_proportion(unit: str) -> None:
    assert isinstance(redact(unit * (200_000 // len(unit))), str)
