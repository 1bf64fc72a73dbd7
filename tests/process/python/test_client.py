"""Tests the Python client at a real service: what calls give, whose pages are whose, and how it ends."""

import asyncio
import pickle
from pathlib import Path

import pytest

from browse_together import AsyncBrowser, Browser
from browse_together.errors import (
    ElementNotFound,
    HumanInControl,
    PageOwned,
    ServiceUnavailable,
    TimedOut,
    Unauthorized,
)
from tests.process.python.conftest import MakeBrowser
from tests.support.site import Answer, Site
from tests.support.terminal import Terminal

SHOP = """<h1>Orders</h1>
<table><tr><th>Order<th>Total<tr><td>A1<td>12.50<tr><td>A2<td>7</table><table><tr><th>x<tr><td>1</table>
<a href=/report.csv>Export</a> <a href=/p target=_blank>Open</a> <button>Twice</button><button>Twice</button>
<input type=file onchange="this.files[0].text().then(text => { document.title = text })">"""
CSV = Answer("Order,Total\n", content_type="text/csv", headers={"content-disposition": "attachment; filename=r.csv"})


@pytest.fixture
def url(site: Site) -> str:
    site.page("/report.csv", CSV)
    site.page("/p", "a popup")
    return site.page("/", SHOP)


def test_calls_give_typed_objects_paths_and_bytes(as_client: MakeBrowser, url: str, tmp_path: Path) -> None:
    page = as_client("reader").page("orders")
    assert page.url == ""
    went = page.goto(url)
    assert (went.status, went.navigated_to, page.url, page.title) == (200, url, url, "/")
    table = page.extract_table()
    assert (table, table.headers) == (
        [{"Order": "A1", "Total": "12.50"}, {"Order": "A2", "Total": "7"}],
        ["Order", "Total"],
    )
    assert page.extract_table("table", all=True).tables == [table, [{"x": "1"}]]
    assert str(page.extract_text("h1")) == "Orders"
    assert page.extract_text("td", all=True).texts == ["A1", "12.50", "A2", "7", "1"]
    assert page.extract_attribute("a", "href", all=True).values == ["/report.csv", "/p"]
    assert page.evaluate_script("({a: [1]})").value == {"a": [1]}
    assert [each.name for each in page.find(role="link").matches] == ["Export", "Open"]
    assert [each.name for each in page.find("Export").matches] == ["Export"]
    picture = page.screenshot("h1")
    assert picture.startswith(b"\x89PNG")
    assert picture.result.path.read_bytes() == picture == picture._repr_png_()
    assert page._repr_png_() is not None
    assert page.generate_pdf().path.read_bytes().startswith(b"%PDF")
    clicked = page.click("role=link[name='Export']")
    assert Path(clicked.downloads[0]).read_text() == "Order,Total\n"
    assert clicked.downloads[0].save_as(tmp_path / "copy.csv").read_text() == "Order,Total\n"
    assert "r.csv" in clicked.observed
    assert page.click("text=Open").popups == ["orders~1"]
    given = tmp_path / "given.txt"
    given.write_text("given")
    page.upload_file("input", [given])
    page.wait_for_url("*")
    assert page.evaluate_script("document.title").value == "given"
    page.close_page()


def test_a_refusal_names_the_next_calls_as_python_and_waits(as_client: MakeBrowser, url: str) -> None:
    ana, ben = as_client("ana"), as_client("ben")
    anas, bens = ana.page("desk"), ben.page("desk")
    anas.goto(url)
    with pytest.raises(PageOwned) as caught:
        bens.click("text=Twice >> nth=0")
    refused = caught.value
    assert 'browser.page("desk").claim_page(wait_seconds=30)' in str(refused)
    assert [call.action for call in refused.next_calls] == ["open_page", "claim_page", "claim_page"]
    assert ben.call(*refused.next_calls[0][:2]).data["navigatedTo"] == url
    with pytest.raises(TimedOut):
        refused.wait(1)
    anas.release_page()
    refused.wait(20)
    assert bens.hover("h1").page == bens.info
    copy = pickle.loads(pickle.dumps(refused))  # noqa: S301 - it was just made here
    assert (type(copy), str(copy), copy.next_calls) == (PageOwned, str(refused), refused.next_calls)
    with pytest.raises(PageOwned):
        copy.wait()


def test_a_page_in_a_persons_hands_is_waited_for(running: Terminal, as_client: MakeBrowser, url: str) -> None:
    page = as_client("asking").page("asked")
    page.goto(url)
    asked = page.request_human(message="Look at it.", timeout=1)
    assert not asked.done
    with pytest.raises(HumanInControl) as caught:
        as_client("waiting").page("asked").hover("h1")
    with pytest.raises(HumanInControl):
        caught.value.wait(1)
    running.succeed("requests", "done", asked.request_id)
    caught.value.wait(20)
    page.hover("h1")


def test_a_client_that_leaves_frees_its_pages_and_they_stay_open(running: Terminal, url: str) -> None:
    with Browser(running.url, data_dir=running.data_dir, label="first") as first:
        first.page("left").goto(url)
        first.page("kept").goto(url)
        first.page("kept").hold_page("a code is on its way")
        assert {page.page_id for page in first.pages()} == {"kept", "left"}
        identity = first.client_id
    with Browser(running.url, data_dir=running.data_dir, client_id="next") as following:
        page = following.page("left")
        page.click("text=Twice >> nth=0")
        assert page.url == url
        with pytest.raises(PageOwned):
            following.page("kept").click("text=Twice >> nth=0")
    with Browser(running.url, data_dir=running.data_dir) as again:
        assert again.client_id == identity


@pytest.mark.anyio
async def test_the_asynchronous_client_runs_calls_at_once_and_cancels_them(running: Terminal, url: str) -> None:
    async with AsyncBrowser(running.url, data_dir=running.data_dir, client_id="async") as browser:
        pages = [browser.page(f"at-once-{n}") for n in range(3)]
        assert {went.status for went in await asyncio.gather(*(page.goto(url) for page in pages))} == {200}
        waiting = asyncio.create_task(pages[0].wait_for_selector("#never", timeout=60_000))
        await asyncio.sleep(0)
        assert (await pages[0].extract_text("h1")).text == "Orders"
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        other = AsyncBrowser(running.url, data_dir=running.data_dir, client_id="other")
        with pytest.raises(PageOwned) as caught:
            await other.page("at-once-1").click("text=Twice >> nth=0")
        await pages[1].release_page()
        await caught.value.wait(20)
        await other.close()
        assert {page.page_id for page in await browser.pages()} == {"at-once-0", "at-once-2"}


def test_what_is_wrong_is_said_in_words_of_python(running: Terminal, as_client: MakeBrowser, url: str) -> None:
    with pytest.raises(ValueError, match=r"^url: this is not how it is written"):
        Browser("localhost")
    with pytest.raises(ServiceUnavailable, match="browse-together up"):
        Browser("http://127.0.0.1:1", data_dir=running.data_dir, autostart=False).pages()
    with pytest.raises(Unauthorized), Browser(running.url, token="made.up.token", data_dir=running.data_dir) as browser:
        browser.pages()
    page = as_client("mistaken").page("mistakes")
    page.goto(url)
    with pytest.raises(ElementNotFound, match=r"page\.snapshot\(\)"):
        page.click("#none", timeout=50)
    with pytest.raises(FileNotFoundError):
        page.upload_file("input", [running.data_dir / "none"])
