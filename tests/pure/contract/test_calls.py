"""Tests that what crosses the seam between the service and its hosts comes out of JSON as it went in."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

from browse_together.contract import calls, events, pages
from browse_together.contract.calls import (
    ActivityRecord,
    Artifact,
    AsOf,
    Call,
    CallState,
    ClientRef,
    DownloadState,
    Guard,
    Notice,
    Outcome,
    PageLimit,
    Preview,
)
from browse_together.contract.errors import PageOwned
from browse_together.contract.events import (
    CallEnded,
    CallFollowed,
    CallMoved,
    DownloadMoved,
    EventBatch,
    HostEvent,
    LoginOver,
    NoticeGiven,
    PageChanged,
    PageClosed,
    PageMoved,
    PageOpened,
    PageRetired,
    RequestOver,
    SessionTold,
    StateSaved,
)
from browse_together.contract.model import Model
from browse_together.contract.named_secrets import NamedSecret
from browse_together.contract.pages import (
    Answer,
    Figures,
    HumanRequestState,
    Owner,
    PageBlock,
    PageState,
    Parked,
    Proxy,
    SessionOptions,
    SessionSpec,
    Size,
)
from tests.support.each import each

PAGE = PageState(page_id="cart", session_id="default", url="https://example.com", title="Cart ✓", holder_id="c1")
NOTICE = Notice(text='"cart" was closed by its owner.', page_id="cart")
DOWNLOAD = DownloadState(
    download_id="d", client_id="c1", page_id="cart", url="u", name="a.csv", began_at="2026-01-31T14:05:00Z", size=3
)
EVENTS: list[Model] = [
    PageOpened(seq=1, page=PAGE),
    PageChanged(seq=2, page=PAGE),
    PageClosed(seq=3, page_id="cart", session_id="default"),
    PageRetired(
        seq=3,
        page=PAGE,
        newcomer=ClientRef(client_id="c2", label="Codex"),
    ),
    CallMoved(seq=4, call_id="k1", client_id="c1", state=CallState.QUEUED, position=2, behind="goto, 4 s"),
    CallEnded(seq=5, client_id="c1", outcome=Outcome(call_id="c1/k1", result={"value": 1}, page=PAGE)),
    NoticeGiven(seq=5, client_id="c1", notice=NOTICE),
    RequestOver(
        seq=5,
        client_id="c1",
        request=HumanRequestState(request_id="ask-1", kind="code", page_id="cart", session_id="default"),
        state="done",
        by="ana",
        chosen="South",
    ),
    LoginOver(seq=6, session_id="default", site="shop.example"),
    StateSaved(seq=6, session_id="default", state={"cookies": [{"name": "a", "value": "b", "expires": -1}]}),
    SessionTold(
        seq=6, session_id="s", headers={"x": "1"}, permissions={"https://a.example": ["camera"]}, former={"p": {}}
    ),
    DownloadMoved(seq=8, download=DOWNLOAD),
]
AS_OF = AsOf(incarnation="i1", seq=7)
EXAMPLES: list[Model] = [
    *EVENTS,
    PAGE,
    NOTICE,
    DOWNLOAD,
    Call(call_id="k1", seq=1, client_id="c1", body={"action": "goto", "url": "x"}, page_id="cart"),
    Outcome(call_id="k1", result={"url": "x", "deep": [{"n": None}]}, page=PAGE, notices=[NOTICE], as_of=AS_OF),
    AS_OF,
    PageLimit(most=2, token="helpers"),
    Guard(read=["https://mail.example", ""], allowed=[("https://mail.example", "https://shop.example")]),
    Outcome(call_id="k1", result={"cleared": 1}, taken_logins=[{"part": True, "cookies": [{"name": "a"}]}]),
    Outcome(call_id="k1", error=PageOwned("In use.", details={"context": {"owner": "Claude"}}).body("req-1")),
    ClientRef(client_id="c2", label="Codex"),
    NamedSecret(name="pw", value="hunter22", origins=("https://shop.example",)),
    HumanRequestState(
        request_id="ask-1", kind="decision", message="Which?", choices=["a", "b"], page_id="a", session_id="b"
    ),
    Answer(state="done", text="a", by="Ana"),
    Artifact(artifact_id="a1", mime_type="image/png", size=3, url="/api/files/a1", data="AAAA"),
    Preview(mime_type="image/jpeg", width=1, height=2, data="AAAA"),
    Size(),
    Proxy(server="http://proxy.example:3128", password="p"),
    Parked(x=0, y=300, history=2, loses=True),
    Figures(pages=2, parked=1, sessions=1, browsers=1, browser_restarts=0, memory_mb=600, memory_limit_mb=14_000),
    SessionOptions(permissions=["camera"]),
    SessionSpec(session_id="default", profile=True, state={"cookies": [{"name": "a"}]}, pages=[PAGE]),
    EventBatch(incarnation="i1", events=[PageOpened(seq=1, page=PAGE)], last_seq=1),
    CallFollowed(call_id="k1", action="wait", began_at=1.5, elapsed_ms=20, kept_ms=600, progress="running"),
    PageMoved(page_id="cart", session_id="default", revision=3),
    PageBlock(
        page_id="a",
        session_id="b",
        url="c",
        title="d",
        revision=1,
        owner=Owner(label="Claude", you=True),
        error_page="the navigation failed",
        dialog="alert 'hi'",
    ),
    Owner(label="Claude · shop", you=False),
    ActivityRecord(
        id=1,
        time="2026-01-31T14:05:00.000Z",
        client="Claude",
        you=True,
        action="goto",
        outcome="ok",
        duration_ms=1,
        call_id="k1",
        requests=[{"method": "POST", "url": "/x", "status": None}],
    ),
]

every_example = each({type(model).__name__: model for model in EXAMPLES})


def test_every_model_has_an_example_here() -> None:
    declared = {
        found
        for module in (calls, events, pages)
        for name, found in vars(module).items()
        if isinstance(found, type) and issubclass(found, Model) and not name.startswith("_")
    }
    assert declared - {Model} == {type(model) for model in EXAMPLES}


@every_example
def test_a_model_comes_out_of_json_as_it_went_in(model: Model) -> None:
    assert type(model).model_validate_json(model.model_dump_json()) == model
    assert type(model).model_validate(json.loads(json.dumps(model.model_dump(mode="json")))) == model


@every_example
def test_a_model_speaks_camel_case_and_takes_nothing_unknown(model: Model) -> None:
    wire = model.model_dump(mode="json")
    assert [*wire] == [to_camel(name) for name in type(model).model_fields]
    with pytest.raises(ValidationError, match="surprise"):
        type(model).model_validate({**wire, "surprise": 1})


@pytest.mark.parametrize("event", EVENTS, ids=lambda each: type(each).__name__)
def test_an_event_is_known_by_its_kind(event: Model) -> None:
    adapter: TypeAdapter[HostEvent] = TypeAdapter(HostEvent)
    again = adapter.validate_json(event.model_dump_json())
    assert type(again) is type(event)
    assert again == event


def test_the_kinds_of_events_are_lasting_names() -> None:
    pages = ["page_opened", "page_changed", "page_closed", "page_retired"]
    kinds = [*pages, "call_moved", "call_ended", "notice", "request_over", "login_over", "state", "session_told"]
    kinds += ["download"]
    assert [event.model_dump()["kind"] for event in EVENTS] == kinds


def test_an_event_of_an_unknown_kind_is_refused() -> None:
    adapter: TypeAdapter[HostEvent] = TypeAdapter(HostEvent)
    with pytest.raises(ValidationError, match="page_exploded"):
        adapter.validate_python({"kind": "page_exploded", "seq": 1})


def test_a_batch_keeps_its_events_apart() -> None:
    batch = EventBatch.model_validate({"incarnation": "i1", "events": [each.model_dump() for each in EVENTS]})
    assert [type(each) for each in batch.events] == [type(each) for each in EVENTS]


def test_an_outcome_with_an_error_has_failed() -> None:
    assert Outcome(call_id="k1", error=PageOwned("In use.").body()).state is CallState.FAILED
    assert Outcome(call_id="k1", result={}).state is CallState.DONE


@given(
    text=st.text(),
    number=st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False),
    flag=st.none() | st.booleans(),
)
def test_any_body_crosses_unchanged(text: str, number: float, flag: bool | None) -> None:  # noqa: FBT001 - drawn
    body = {"action": "evaluate_script", "arg": {text: [text, number, {"flag": flag}]}}
    call = Call.model_validate({"callId": "k1", "seq": 1, "clientId": "c1", "body": body})
    again = Call.model_validate_json(call.model_dump_json())
    assert again == call
    assert again.body == body
