"""Tests the file of a replay: it has the record and nothing that runs or loads, and is never larger than allowed."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

from browse_together.contract.calls import ActivityRecord
from browse_together.contract.frames import ActPictures, ShownPicture
from browser_service.observability.replay import Act, Replay
from tests.support.json import AnyJson

EVIL = "</script><script>alert(1)</script><!--{{csp}}\u2028"


def act(number: int, picture: str = "") -> Act:
    record = ActivityRecord(
        id=number,
        time=f"2026-01-31T14:05:{number % 60:02}.000Z",
        client=EVIL,
        you=False,
        action="click",
        arguments={"selector": EVIL},
        url_before=f"https://shop.example/{EVIL}",
        outcome="ok",
        duration_ms=5,
        call_id=f"call-{number}",
    )
    shown = ShownPicture(data=picture, width=10, height=10, time=record.time) if picture else None
    return Act(record, ActPictures(after=shown))


def data(page: str) -> dict[str, AnyJson]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page)
    assert found is not None
    return dict(json.loads(found[1]))


class Elements(HTMLParser):
    """What a page's elements would load, and its scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.scripts: list[str] = []
        self.loaded: list[str] = []
        self.policy = ""
        self._inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.loaded += [str(value) for name, value in attrs if name in {"src", "href", "srcset", "action"}]
        self._inside = tag if tag in {"script", "style"} and given.get("type") in {None, "module"} else ""
        if given.get("http-equiv"):
            self.policy = str(given["content"])

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.scripts.append(data)
            self._inside = ""


def test_what_pages_and_clients_say_is_data_and_runs_nothing_and_the_file_loads_nothing() -> None:
    replay = Replay({"pageId": EVIL}, 10_000_000, more=False)
    replay.add([act(2), act(1)])
    page = replay.html()
    assert [each["id"] for each in data(page)["acts"]] == [1, 2]
    assert data(page)["acts"][0]["client"] == EVIL
    elements = Elements(page)
    assert not elements.loaded
    assert "default-src 'none'; img-src data:;" in elements.policy
    allowed = set(re.findall("'sha256-([^']+)'", elements.policy))
    digests = {base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in elements.scripts}
    assert len(elements.scripts) == 2
    assert digests == allowed


def test_a_file_without_room_has_the_newest_and_says_what_it_left_out() -> None:
    replay = Replay({}, 40_000, more=True)
    replay.add([act(number, f"{number:04}" * 2_000) for number in range(200, 0, -1)])
    acts = data(replay.html())["acts"]
    assert acts[-1]["id"] == 200
    assert "after" in acts[-1]
    assert ("after" in acts[0], acts[0]["leftOut"]) == (False, True)
    assert len(json.dumps(data(replay.html()))) < 60_000
    older, pictures = 200 - len(acts), next(each["time"] for each in reversed(acts) if "after" not in each)
    assert replay.left_out == [
        f"Pictures until {pictures} are left out: browse-together replay --max-mb gives them room.",
        f"{older} older acts are left out: browse-together replay --max-mb gives them room.",
        "Older acts that match are left out: browse-together replay --limit gives them room.",
    ]


def test_a_picture_of_two_acts_is_in_the_file_once() -> None:
    replay = Replay({}, 10_000_000, more=False)
    replay.add([act(2, "AAAA"), act(1, "AAAA")])
    shown = data(replay.html())
    assert shown["images"] == ["AAAA"]
    assert [each["after"]["image"] for each in shown["acts"]] == [0, 0]


def test_acts_in_quick_succession_have_no_picture_of_a_later_act_and_say_why() -> None:
    replay = Replay({}, 10_000_000, more=False)
    acts = [(5, 5_000, "late"), (4, 3_000, ""), (3, 2_300, "AAAA"), (2, 2_100, ""), (1, 2_000, "")]
    for number, ms, picture in acts:
        made = act(number, picture)
        facts = {"time": f"2026-01-31T14:05:0{ms / 1000}Z", "page_id": "shop"}
        replay.add([made._replace(record=made.record.model_copy(update=facts))])
    first, second, third, alone, _ = data(replay.html())["acts"]
    assert [each.get("unseen") for each in (first, second, third, alone)] == ["followed", "followed", None, None]
    assert ["after" in each for each in (first, second, third, alone)] == [False, False, True, False]
