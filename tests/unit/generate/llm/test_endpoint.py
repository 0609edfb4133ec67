"""Endpoints: keys are read from the right place and never shown; prices."""

from decimal import Decimal

import pytest

from eqfuzz.generate.llm.model.endpoint import HIDDEN, BadEndpoint, Endpoint, take_key
from eqfuzz.generate.llm.model.price import NoPrice, price_of

KEY = "sk-proj-0123456789abcdef/xyz+"
LOCAL = "http://127.0.0.1:8000/v1"


def test_repr_hides_key():
    assert KEY not in repr(Endpoint("m", key=KEY))
    assert KEY not in str(Endpoint("m", key=KEY))


def test_echoed_credentials_are_hidden():
    endpoint = Endpoint("m", LOCAL, KEY)
    for echo in (
        KEY,
        f"Authorization: Bearer {KEY}",
        '{"authorization": "Bearer abc.def-123456"}',
        KEY.replace("/", "%2F").replace("+", "%2B"),
    ):
        hidden = endpoint.hide(f"before {echo} after")
        assert HIDDEN in hidden
        assert "abc.def" not in hidden
        assert KEY[:12] not in hidden
    assert Endpoint("m", LOCAL, "none").hide('reduction="none"') == 'reduction="none"'


def test_key_is_removed_from_environment(monkeypatch):
    monkeypatch.setenv("MINE", KEY)
    assert take_key(LOCAL, "MINE", None) == KEY
    with pytest.raises(BadEndpoint, match="MINE holds no key"):
        take_key(LOCAL, "MINE", None)


def test_openai_key_is_used_for_openai_only(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert take_key(LOCAL, None, None) == ""
    assert take_key("https://api.openai.com/v1/", None, None) == KEY


def test_key_is_read_from_a_file(tmp_path):
    file = tmp_path / "key"
    file.write_text(f"{KEY}\n")
    assert take_key(LOCAL, None, file) == KEY
    file.write_text(f"{KEY} {KEY}")
    with pytest.raises(BadEndpoint) as caught:
        take_key(LOCAL, None, file)
    assert KEY not in str(caught.value)
    with pytest.raises(BadEndpoint, match="cannot be read"):
        take_key(LOCAL, None, tmp_path / "none")


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000",
        "http://",
        "ftp://x/v1",
        "http://u:secretword@h/v1",
        "http://h/v1?key=secretword",
        "http://h:x/",
    ],
)
def test_bad_addresses_are_reported_without_secrets(url):
    with pytest.raises(BadEndpoint) as caught:
        Endpoint("m", url)
    assert "secretword" not in str(caught.value)


def test_price_is_own_or_listed():
    assert price_of(Endpoint("gpt-4o-mini"), "").dollars(1_000_000, 1_000_000) == Decimal("0.75")
    assert price_of(Endpoint("x", LOCAL), "0,0").dollars(10**6, 10**6) == 0
    assert str(price_of(Endpoint("gpt-4o-mini"), "1, 2").dollars(500_000, 500_000)) == "1.5"
    for endpoint, own in (
        (Endpoint("x", LOCAL), ""),
        (Endpoint("no-such-model"), ""),
        (Endpoint("x"), "1"),
        (Endpoint("x"), "a,b"),
        (Endpoint("x"), "-1,2"),
    ):
        with pytest.raises(NoPrice):
            price_of(endpoint, own)
