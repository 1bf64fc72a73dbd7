"""Tests named secrets: how they are kept, which codes an authenticator gives, and that no spelling of one passes."""

import base64
import html
import json
import stat
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from browse_together.contract.calls import Outcome
from browse_together.contract.catalogue import parse
from browse_together.contract.cuts import cut
from browse_together.contract.data_files import KEY_FILE, SECRETS_FILE
from browse_together.contract.errors import Forbidden, ServiceUnavailable, ValidationFailed
from browse_together.contract.model import Json
from browse_together.contract.named_secrets import MOST_SECRETS, NamedSecret
from browser_service.rules.host_clock import check_clock
from browser_service.security.concealment import Concealment
from browser_service.security.known_secrets import KnownSecrets
from browser_service.security.named_secrets import NamedSecrets
from browser_service.security.one_time_codes import appearances, from_authenticator, typed_text
from browser_service.security.seal import Seal

SHOP = ("https://shop.example",)
RFC_KEY = base64.b32encode(b"12345678901234567890").decode()
VALUES = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=5, max_size=40)


def _text(name: str, value: str) -> NamedSecret:
    return NamedSecret(name=name, value=value, origins=SHOP)


@pytest.mark.parametrize(
    ("at", "code"),
    [(59, "94287082"), (1111111109, "07081804"), (1234567890, "89005924"), (20000000000, "65353130")],
)
def test_codes_match_the_standard(at: int, code: str) -> None:  # RFC 6238, appendix B
    link = f"otpauth://totp/Shop:ana?secret={RFC_KEY.lower()}&digits=8&issuer=Shop"
    assert typed_text(from_authenticator("otp", link, SHOP), at) == code


@pytest.mark.parametrize("text", ["otpauth://hotp/x?secret=AAAA", "otpauth://totp/x", "8 is no base32", "AAA1"])
def test_an_invalid_authenticator_key_is_refused(text: str) -> None:
    with pytest.raises((ValidationFailed, ValueError)):
        from_authenticator("otp", text, SHOP)


def test_markdown_capitals_and_numbers_are_spellings_too() -> None:
    concealment = Concealment([("pw", "Tr0_ub*4dor"), ("pin", "048213977")])
    for spelling in ("Tr0\\_ub\\*4dor", "TR0_UB*4DOR", "tr0_ub*4dor"):
        assert concealment.text(f"# {spelling}!") == "# «secret:pw»!"
    result: JsonValue = {"value": [48213977, 48213977.0, 4, True], "length": 48213977}
    assert concealment.finds(result)
    hidden = "«secret:pin»"
    assert concealment.value(result) == {"value": [hidden, hidden, 4, True], "length": 48213977}


def test_a_secret_in_an_address_within_another_and_in_the_name_of_a_download_is_hidden() -> None:
    value = "Zq7-Kd&Wx<9é Vault"
    hides = Concealment([("pw", value)])
    for spelled in (quote(quote(value, safe=""), safe=""), quote(quote_plus(value), safe=""), value.replace("<", "_")):
        assert hides.text(f"x{spelled}y") == "x«secret:pw»y"


@given(value=VALUES, before=st.binary(max_size=5), after=st.binary(max_size=5))
def test_no_spelling_of_a_secret_passes(value: str, before: bytes, after: bytes) -> None:
    concealment = Concealment([("pw", value)])
    data = before + value.encode() + after
    spellings = {
        *(value, quote(value), quote(value, safe=""), quote_plus(value), json.dumps(value), html.escape(value)),
        *(ascii(value), html.escape(json.dumps(value)), quote(html.escape(json.dumps(value)))),
        *(value.encode().hex(), base64.b64encode(data).decode(), base64.urlsafe_b64encode(data).decode()),
    }
    for spelling in spellings:
        shown = concealment.text(f"<p title='{spelling}'>{spelling}</p>")
        assert "«secret:pw»" in shown, spelling
        assert value not in shown.replace("«secret:pw»", "")


def test_keys_and_lists_are_searched_too() -> None:
    concealment = Concealment([("pw", "hunter22")])
    assert concealment.value({"hunter22": ["a hunter22", 7]}) == {"«secret:pw»": ["a «secret:pw»", 7]}


def test_a_secret_that_contains_another_is_hidden_whole() -> None:
    concealment = Concealment([("short", "hunter"), ("long", "hunter22")])
    assert concealment.text("hunter22 hunter") == "«secret:long» «secret:short»"


def test_a_secret_is_sealed_on_disk_and_known_to_a_service_that_runs(tmp_path: Path) -> None:
    service, command = (NamedSecrets(tmp_path, Seal(tmp_path)) for _ in range(2))
    assert service.concealment.text("it is hunter22") == "it is hunter22"
    command.set(_text("pw", "hunter22"))
    file = tmp_path / SECRETS_FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert b"hunter22" not in file.read_bytes()
    assert service.named(["pw"]) == {"pw": _text("pw", "hunter22")}
    assert service.concealment.text("it is hunter22") == "it is «secret:pw»"
    assert command.remove("pw")
    assert not command.remove("pw")
    with pytest.raises(ValidationFailed, match="no secret 'pw'"):
        service.named(["pw"])


def test_a_host_with_a_process_of_its_own_hides_what_calls_gave_it_and_earlier_values_too() -> None:
    secrets = KnownSecrets()
    for value in ("hunter22", "swordfish"):
        secrets.note([_text("pw", value)])
    assert secrets.concealment.text("hunter22 swordfish") == "«secret:pw» «secret:pw»"
    with secrets.hidden():
        assert cut("it is swordfish", 10) == "it is «secret:pw»"
        hide = structlog.get_config()["processors"][-2]  # before the one that writes the line
        assert hide(None, "info", {"event": "typed", "text": "swordfish"})["text"] == "«secret:pw»"
    assert cut("it is swordfish", 10) == "it is swor"
    secrets.note(_text("pw", f"value {number}") for number in range(1_000))
    assert len(secrets.known()) < 1_000
    assert secrets.concealment.text("it is value 999") == "it is «secret:pw»"


@pytest.mark.parametrize("period", [10, 30, 300])
def test_a_code_is_hidden_that_a_host_types_whose_clock_is_as_wrong_as_it_may_be(period: int) -> None:
    secret = from_authenticator("otp", f"otpauth://totp/x?secret={RFC_KEY}&period={period}", SHOP)
    hidden = {*appearances(secret, 1_000_000)}
    assert {typed_text(secret, 1_000_000 + ahead) for ahead in range(-600, 40)} <= hidden


def test_a_host_is_warned_of_a_wrong_clock_and_refused_with_a_very_wrong_one() -> None:
    assert check_clock(1_000_000, 1_005_000) == ""
    assert "6 s ahead of" in check_clock(1_006_000, 1_000_000)
    assert "30 s behind" in check_clock(1_000_000, 1_030_000)
    with pytest.raises(Forbidden, match="31 s behind"):
        check_clock(1_000_000, 1_031_000)


def test_secrets_of_another_key_are_an_error_that_names_it_and_hide_nothing_by_chance(tmp_path: Path) -> None:
    NamedSecrets(tmp_path, Seal(tmp_path)).set(_text("pw", "hunter22"))
    (tmp_path / KEY_FILE).unlink()
    secrets = NamedSecrets(tmp_path, Seal(tmp_path))
    with pytest.raises(ServiceUnavailable, match="another key"):
        secrets.named(["pw"])
    assert secrets.concealment.text("hunter22") == "hunter22"
    with pytest.raises(ServiceUnavailable, match="another key"):  # known, without opening it anew
        secrets.named(["pw"])
    (tmp_path / SECRETS_FILE).unlink()
    with pytest.raises(ValidationFailed, match="no secret 'pw'"):
        secrets.named(["pw"])


def test_there_is_a_limit_to_how_many_there_are(tmp_path: Path) -> None:
    secrets = NamedSecrets(tmp_path, Seal(tmp_path))
    for number in range(MOST_SECRETS):
        secrets.set(_text(f"s{number}", f"value-{number}"))
    secrets.set(_text("s0", "another"))
    with pytest.raises(ValidationFailed, match=f"{MOST_SECRETS} secrets"):
        secrets.set(_text("more", "hunter22"))


def test_logins_that_an_act_took_keep_their_secrets(tmp_path: Path) -> None:
    secrets = NamedSecrets(tmp_path, Seal(tmp_path))
    taken: Json = {"cookies": [{"name": "login", "value": "hunter22"}]}
    outcome = Outcome(call_id="c", result={"value": "hunter22"}, taken_logins=[taken])
    assert secrets.concealment.message(outcome) is outcome
    secrets.set(_text("pw", "hunter22"))
    concealed = secrets.concealment.message(outcome)
    assert (concealed.result, concealed.taken_logins) == ({"value": "«secret:pw»"}, [taken])


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ({"action": "fill", "selector": "#a", "value": {"secret": "pw"}}, {"pw"}),
        ({"action": "type", "selector": "#a", "text": {"secret": "pw"}}, {"pw"}),
        ({"action": "fill", "selector": "#a", "value": "pw"}, set()),
        ({"action": "fill_form", "fields": [{"selector": "#a", "value": {"secret": "b"}}]}, {"b"}),
        ({"action": "fetch", "url": "/", "headers": {"a": "b", "c": {"secret": "d", "prefix": "Bearer "}}}, {"d"}),
        ({"action": "batch", "steps": [{"action": "fill", "selector": "#a", "value": {"secret": "e"}}]}, {"e"}),
    ],
)
def test_a_call_knows_the_secrets_that_it_names(body: dict[str, object], names: set[str]) -> None:
    assert parse(body).secret_names() == names  # type: ignore[arg-type] # JSON, of several forms
