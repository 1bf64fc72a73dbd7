"""Tests pictures: their size, their form, and what is on them.

It is longer than 300 lines because each option of a picture has a test, and all measure pictures with the same
helpers.
"""

import base64
import io
import re

import pytest
from PIL import Image

from browser_service.actions.support import screenshots
from tests.support.service import Agent
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

PNG, JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
RED, BLUE, WHITE, PINK = (255, 0, 0), (0, 0, 255), (255, 255, 255), (255, 0, 255)

PAINTED = """<style>body {margin: 0; background: white}
#red {position: absolute; left: 100px; top: 50px; width: 200px; height: 100px; background: rgb(255, 0, 0)}
#low {position: absolute; left: 0; top: 1900px; width: 60px; height: 100px; background: rgb(0, 0, 255)}</style>
<div id=red></div><div id=low></div>"""

NOISE = """(() => {
  const context = c.getContext('2d'), image = context.createImageData(1280, 720);
  for (let at = 0; at < image.data.length; at += 65536)
    crypto.getRandomValues(image.data.subarray(at, Math.min(at + 65536, image.data.length)));
  for (let at = 3; at < image.data.length; at += 4) image.data[at] = 255;
  context.putImageData(image, 0, 0);
})()"""


async def _bytes(agent: Agent, result: dict[str, object]) -> bytes:
    artifact = result["artifact"]
    assert isinstance(artifact, dict)
    got = await agent.http.get(artifact["url"])
    assert (got.status_code, got.headers["content-type"], len(got.content)) == (
        200,
        artifact["mimeType"],
        artifact["size"],
    )
    return got.content


async def _picture(tab: Tab, **arguments: object) -> Image.Image:
    """Return the picture of a call, and check that its size is the one that the reply says."""
    result = await tab.call("screenshot", **arguments)
    picture = Image.open(io.BytesIO(await _bytes(tab.agent, result))).convert("RGBA")
    assert (result["width"], result["height"]) == picture.size
    return picture


def _at(picture: Image.Image, x: int, y: int) -> tuple[int, ...]:
    pixel = picture.getpixel((x, y))
    assert isinstance(pixel, tuple)
    return pixel[:3]


async def test_screenshot_is_a_png_of_the_visible_part_of_the_page(tab: Tab) -> None:
    await tab.show(PAINTED)
    result = await tab.call("screenshot")
    assert (result["artifact"]["mimeType"], (await _bytes(tab.agent, result)).startswith(PNG)) == ("image/png", True)
    picture = await _picture(tab)
    assert picture.size == (1280, 720) == tuple(await tab.sees("[innerWidth, innerHeight]"))
    assert (_at(picture, 110, 60), _at(picture, 90, 60)) == (RED, WHITE)


async def test_screenshot_of_the_full_page_reaches_to_its_end(tab: Tab) -> None:
    await tab.show(PAINTED)
    picture = await _picture(tab, fullPage=True)
    assert picture.size == (1280, 2000)
    assert _at(picture, 30, 1950) == BLUE
    assert await tab.sees("[scrollY, innerHeight]") == [0, 720]


async def test_screenshot_of_an_element_is_that_element_wherever_it_is(tab: Tab) -> None:
    await tab.show(PAINTED)
    picture = await _picture(tab, selector="#low")
    assert (picture.size, _at(picture, 0, 0), _at(picture, 59, 99)) == ((60, 100), BLUE, BLUE)
    for action in ("screenshot", "compare_screenshots"):
        asked = {"baseline": "art-1"} if action == "compare_screenshots" else {}
        error = await tab.error(action, selector="#red", fullPage=True, **asked)
        assert (error["code"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", "fullPage")
        assert "leave one of them out" in error["message"]


async def test_screenshot_of_an_element_in_a_frame(tab: Tab) -> None:
    tab.site.page("/inner", PAINTED)
    await tab.show(f"<iframe width=600 height=300 src={tab.site.url('/inner', 'localhost')}></iframe>")
    picture = await _picture(tab, selector="#red", frame="iframe")
    assert (picture.size, _at(picture, 100, 50)) == ((200, 100), RED)


async def test_screenshot_of_a_region(tab: Tab) -> None:
    await tab.show(PAINTED)
    picture = await _picture(tab, clip={"x": 90, "y": 50, "width": 30, "height": 20})
    assert (picture.size, _at(picture, 9, 5), _at(picture, 10, 5)) == ((30, 20), WHITE, RED)
    picture = await _picture(tab, fullPage=True, clip={"x": 0, "y": 1900, "width": 10, "height": 10})
    assert _at(picture, 5, 5) == BLUE


async def test_screenshot_of_a_region_outside_of_the_page_is_refused(tab: Tab) -> None:
    await tab.show(PAINTED)
    error = await tab.error("screenshot", clip={"x": 5000, "y": 0, "width": 10, "height": 10})
    assert (error["code"], error["status"]) == ("VALIDATION_ERROR", 422)
    assert "clip" in error["message"]
    for wrong in ({"x": 0, "y": 0, "width": 0, "height": 5}, {"x": 0, "y": 0, "width": 5}, "all"):
        error = await tab.error("screenshot", clip=wrong)
        assert (error["code"], error["details"]["context"]["field"].split(".")[0]) == ("VALIDATION_ERROR", "clip")


async def test_screenshot_of_a_region_is_of_the_window_or_with_full_page_of_the_page(tab: Tab) -> None:
    await tab.show(PAINTED)
    await tab.sees("scrollTo(0, 40)")
    corner = {"x": 100, "y": 10, "width": 20, "height": 20}
    assert _at(await _picture(tab, clip=corner), 5, 5) == RED
    assert _at(await _picture(tab, clip=corner, fullPage=True), 5, 5) == WHITE


async def test_screenshot_of_a_region_and_of_an_element_at_once_is_refused(tab: Tab) -> None:
    await tab.show(PAINTED)
    error = await tab.error("screenshot", selector="#red", clip={"x": 0, "y": 0, "width": 5, "height": 5})
    assert (error["code"], error["status"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", 422, "clip")
    assert "exclude each other" in error["message"]


async def test_screenshot_as_jpeg_cannot_be_transparent_and_says_so(tab: Tab) -> None:
    await tab.show(PAINTED)
    error = await tab.error("screenshot", type="jpeg", omitBackground=True)
    assert (error["code"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", "omitBackground")
    assert "png or webp" in error["message"]
    whole = await _picture(tab, type="webp", omitBackground=True, selector="#red")
    assert whole.size == (200, 100)


async def test_screenshot_as_base64_is_the_files_own_text(tab: Tab) -> None:
    await tab.show(PAINTED)
    result = await tab.call("get_screenshot_as_base64", selector="#red")
    data = base64.b64decode(result["base64"], validate=True)
    assert data == await _bytes(tab.agent, result)
    picture = Image.open(io.BytesIO(data)).convert("RGB")
    assert (result["mimeType"], result["width"], result["height"]) == ("image/png", 200, 100)
    assert (picture.size, _at(picture, 100, 50)) == ((200, 100), RED)
    assert "data" not in result["artifact"]


async def test_screenshot_as_base64_is_cut_to_the_requested_size_and_continued_by_its_cursor(tab: Tab) -> None:
    await tab.show(PAINTED)
    reply = await tab.agent.reply("get_screenshot_as_base64", type="jpeg", headers={"X-Browse-Inline": "1000"})
    result = reply.json()["result"]
    text, length = result["base64"], result["length"]
    assert len(text) == 1_000 < length
    while "cursor" in result:
        result = await tab.call("get_screenshot_as_base64", cursor=result["cursor"])
        text += result["base64"]
    assert len(text) == length
    assert base64.b64decode(text, validate=True).startswith(JPEG)


async def test_a_picture_of_the_size_that_hosts_take_comes_along_as_it_was_asked_for(tab: Tab) -> None:
    await tab.show(PAINTED)
    for kind in ("png", "jpeg", "webp"):
        artifact = (await tab.call("screenshot", fullPage=True, type=kind))["artifact"]
        picture = Image.open(io.BytesIO(base64.b64decode(artifact["data"])))
        assert (picture.format, picture.size, "preview" in artifact) == (kind.upper(), (1280, 2000), False)


async def test_a_wide_picture_comes_along_reduced_and_says_so(tab: Tab) -> None:
    await tab.show("<body style='margin: 0'><div id=wide style='width: 4000px; height: 500px; background: red'>")
    shown = (await tab.call("screenshot", selector="#wide"))["artifact"]["preview"]
    small = Image.open(io.BytesIO(base64.b64decode(shown["data"])))
    assert (small.format, small.size) == ("PNG", (2000, 250)) == ("PNG", (shown["width"], shown["height"]))
    assert shown["said"] == "Shown reduced to 2000 x 250, because hosts take no more; the whole is in the file."


async def test_a_picture_of_many_bytes_comes_along_as_a_smaller_jpeg_of_the_same_size(tab: Tab) -> None:
    await tab.show("<canvas id=c width=1280 height=720 style='position: fixed; inset: 0'></canvas>")
    await tab.sees(NOISE)
    artifact = (await tab.call("screenshot"))["artifact"]
    assert artifact["size"] > 700_000
    assert "data" not in artifact
    data = base64.b64decode(artifact["preview"]["data"])
    assert (data[:3], len(data) <= 700_000) == (JPEG, True)
    assert Image.open(io.BytesIO(data)).size == (1280, 720)
    assert artifact["preview"]["said"].startswith("Shown as JPEG, because hosts take no more")


@pytest.mark.thorough
async def test_a_very_tall_page_comes_in_slices_that_can_be_read_and_leaves_the_page_usable(tab: Tab) -> None:
    rows = "".join(f"<p style='background: rgb({row}, 0, 255)'>{row}</p>" for row in range(90))
    await tab.show(f"<style>body {{margin: 0}} p {{margin: 0; height: 200px}}</style>{rows}")
    taken = await tab.call("screenshot", fullPage=True, timeout=48_000)
    assert (taken["width"], taken["height"], await tab.sees("1 + 1")) == (1280, 18_000, 2)
    whole = Image.open(io.BytesIO(await _bytes(tab.agent, taken))).convert("RGB")
    assert [_at(whole, 1200, row * 200 + 100) for row in (0, 15, 16, 45, 89)] == [
        (row, 0, 255) for row in (0, 15, 16, 45, 89)
    ]
    shown, seen, tops = taken["artifact"]["preview"], 0, []
    while True:
        part = Image.open(io.BytesIO(base64.b64decode(shown["data"]))).convert("RGB")
        assert (part.width, part.height) == (shown["width"], shown["height"]) == (1280, min(1280, 18_000 - seen))
        assert _at(part, 1200, 0) == _at(whole, 1200, seen)
        seen += part.height
        tops.append(f"rows {seen - part.height:,} to {seen:,} of 18,000" in shown["said"])
        if "cursor" not in shown or len(tops) == 3:
            break
        shown = (await tab.call("screenshot", cursor=shown["cursor"]))["artifact"]["preview"]
    assert tops == [True] * 3
    last = (await tab.call("screenshot", cursor=f"{taken['artifact']['artifactId']}:17920"))["artifact"]["preview"]
    assert (last["height"], "cursor" in last) == (80, False)
    for wrong in (f"{taken['artifact']['artifactId']}:18000", "x", "art-none:0"):
        assert (await tab.error("screenshot", cursor=wrong))["code"] in {"VALIDATION_ERROR", "INVALID_REQUEST"}


@pytest.mark.thorough
async def test_a_picture_of_too_many_pixels_is_cut_before_it_is_taken_and_says_where(tab: Tab) -> None:
    await tab.show("<body style='margin: 0; height: 200000px'><div id=end style='position: absolute; top: 199990px'>x")
    taken = await tab.call("screenshot", fullPage=True, timeout=25_000)
    assert (taken["width"], 0 < taken["height"] <= 46_875) == (1280, True)
    assert f"ends at 1,280 x {taken['height']:,} px of 1,280 x 200,0" in taken["cut"]
    assert f'"y": {taken["height"]}' in taken["cut"]
    assert await tab.sees("1 + 1") == 2
    error = await tab.error("screenshot", fullPage=True, type="webp")
    assert (error["code"], "16,383" in error["message"], "png or jpeg" in error["hint"]) == (
        "VALIDATION_ERROR",
        True,
        True,
    )
    assert (
        await tab.call("screenshot", fullPage=True, clip={"x": 0, "y": 199_000, "width": 500, "height": 1_000_000})
    )["height"] <= 1_020


@pytest.mark.host_here("it changes a figure in the host's process")
@pytest.mark.parametrize(
    "lie",
    [
        "Object.defineProperty(window, 'devicePixelRatio', {get: () => 0})",
        "Object.defineProperty(window, 'devicePixelRatio', {get: () => 'many'})",
        """for (const name of ['scrollHeight', 'offsetHeight', 'scrollWidth', 'offsetWidth'])
           for (const e of [document.documentElement, document.body])
             Object.defineProperty(e, name, {get: () => name.endsWith('Width') ? -5 : Infinity})""",
    ],
    ids=["no ratio", "a ratio in words", "impossible sizes"],
)
async def test_a_pages_claim_about_its_size_does_not_decide_how_much_is_captured(
    tab: Tab, lie: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screenshots, "MOST_PIXELS", 1280 * 1_000)  # the test before this one takes the real number
    await tab.show(f"<body style='margin: 0; height: 100000px'><script>{lie}</script>")
    taken = await tab.call("screenshot", fullPage=True, timeout=25_000)
    assert (taken["width"], 0 < taken["height"] <= 1_000) == (1280, True)
    assert "ends at" in taken["cut"]
    assert "px of 1,280 x 100,0" in taken["cut"]


async def test_screenshot_as_jpeg_is_smaller_with_less_quality(tab: Tab) -> None:
    await tab.show("<body style='background: repeating-linear-gradient(45deg, red, blue 7px, green 13px)'>")
    sizes = []
    for quality in (95, 10):
        result = await tab.call("screenshot", type="jpeg", quality=quality)
        assert result["artifact"]["mimeType"] == "image/jpeg"
        assert (await _bytes(tab.agent, result)).startswith(JPEG)
        sizes.append(result["artifact"]["size"])
    assert sizes[0] > 2 * sizes[1]


async def test_screenshot_as_webp_is_a_webp(tab: Tab) -> None:
    await tab.show(PAINTED)
    result = await tab.call("screenshot", type="webp", quality=50)
    data = await _bytes(tab.agent, result)
    assert (result["artifact"]["mimeType"], data[:4], data[8:12]) == ("image/webp", b"RIFF", b"WEBP")


async def test_screenshot_accepts_a_quality_for_png_which_has_none(tab: Tab) -> None:
    await tab.show(PAINTED)
    result = await tab.call("screenshot", type="png", quality=10)
    assert (await _bytes(tab.agent, result)).startswith(PNG)
    error = await tab.error("screenshot", quality=101)
    assert (error["code"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", "quality")


async def test_screenshot_without_the_background_is_transparent_where_the_page_has_none(tab: Tab) -> None:
    await tab.show(PAINTED.replace("background: white", ""))
    for omit, alpha in ((True, 0), (False, 255)):
        picture = await _picture(tab, omitBackground=omit)
        assert (picture.getpixel((5, 5)), _at(picture, 150, 60)) == ((*WHITE, 255) if alpha else (0, 0, 0, 0), RED)


async def test_screenshot_paints_over_masked_elements(tab: Tab) -> None:
    await tab.show(PAINTED)
    assert _at(await _picture(tab, mask=["#red"]), 150, 60) == PINK
    assert _at(await _picture(tab, mask=["#none", "#red"], maskColor="#00f"), 150, 60) == BLUE
    assert _at(await _picture(tab), 150, 60) == RED


async def test_screenshot_masks_all_elements_that_match(tab: Tab) -> None:
    await tab.show(
        "<style>p {position: absolute; left: 0; width: 50px; height: 50px; margin: 0; background: red}</style>"
        "<p style='top: 0'></p><p style='top: 100px'></p>"
    )
    picture = await _picture(tab, mask=["p"])
    assert (_at(picture, 10, 10), _at(picture, 10, 110)) == (PINK, PINK)


async def test_screenshot_with_a_style_of_its_own_leaves_the_page_as_it_was(tab: Tab) -> None:
    await tab.show(PAINTED)
    picture = await _picture(
        tab, style="#red {background: rgb(0, 0, 255) !important}", animations="disabled", caret="initial", scale="css"
    )
    assert _at(picture, 150, 60) == BLUE
    assert await tab.sees("getComputedStyle(red).backgroundColor") == "rgb(255, 0, 0)"


async def test_screenshot_comes_along_as_base64_when_it_is_small(tab: Tab) -> None:
    await tab.show(PAINTED)
    artifact = (await tab.call("screenshot", selector="#red"))["artifact"]
    assert re.fullmatch(r"/api/files/art-[\w-]+", artifact["url"])
    assert artifact["data"].startswith("iVBORw0KGgo")


async def test_screenshot_of_a_missing_element_says_so(tab: Tab) -> None:
    await tab.show("<p style='display: none'>x</p>")
    missing = await tab.error("screenshot", selector="#none", timeout=250)
    assert (missing["code"], missing["message"]) == (
        "ELEMENT_NOT_FOUND",
        "Element matching selector '#none' not found after 250ms",
    )
    hidden = await tab.error("screenshot", selector="p", timeout=1_000)
    assert (hidden["code"], hidden["status"]) == ("ELEMENT_NOT_INTERACTABLE", 409)
    assert "not visible" in hidden["message"]


async def test_screenshot_into_a_file_of_the_service_is_refused_with_the_way_to_the_bytes(tab: Tab) -> None:
    await tab.show("x")
    error = await tab.error("screenshot", path="shot.png")
    assert (error["code"], error["status"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", 422, "path")
    assert "the reply says where they are" in error["hint"]


async def test_marks_are_drawn_on_the_picture_of_the_window_and_their_refs_can_be_used(tab: Tab) -> None:
    await tab.show(
        "<body style='margin: 0; height: 3000px'><button style='position: absolute; left: 100px; top: 200px; width: "
        "80px; height: 40px; background: white; border: 0' onclick='this.textContent = \"done\"'>Buy</button>"
        "<a href=/x style='position: absolute; top: 2000px'>Low</a><p style='position: absolute; top: 400px'>Words"
    )
    result = await tab.call("screenshot", marks=True)
    picture = Image.open(io.BytesIO(await _bytes(tab.agent, result))).convert("RGB")
    assert result["marks"] == 1
    assert picture.getpixel((100, 230)) == picture.getpixel((179, 230)) == (179, 0, 60)
    assert picture.getpixel((500, 230)) == picture.getpixel((140, 236)) == WHITE
    assert (await tab.call("screenshot", marks=True, fullPage=True, type="jpeg"))["marks"] == 2
    prefix = (await tab.call("find", text="Words"))["matches"][0]["ref"].rpartition("e")[0]
    refs = [f"{prefix}e{n}" for n in range(1, 9)]
    known = [ref for ref in refs if (await tab.agent.reply("expect", selector=ref, timeout=1)).status_code == 200]
    assert len(known) == 3  # with the words that find has shown
    await tab.call("click", selector=known[0])
    assert await tab.sees("document.querySelector('button').textContent") == "done"


async def test_marks_in_frames_and_in_a_scrolled_window_are_where_the_controls_are(tab: Tab) -> None:
    await tab.show(
        "<body style='margin: 0; height: 3000px'><iframe style='position: absolute; left: 288px; top: 590px; "
        "border: 7px solid; padding: 3px 5px'"
        ' srcdoc=\'<body style="margin: 0"><button style="width: 90px; height: 50px; border: 0; background: white">\'>'
    )
    await tab.sees("scrollTo(0, 500)")
    picture = Image.open(io.BytesIO(await _bytes(tab.agent, await tab.call("screenshot", marks=True)))).convert("RGB")
    assert picture.getpixel((300, 130)) == picture.getpixel((389, 130)) == (179, 0, 60)


@pytest.mark.parametrize("beside", [{"selector": "p"}, {"clip": {"x": 0, "y": 0, "width": 9, "height": 9}}])
async def test_marks_are_for_the_whole_window_or_page(tab: Tab, beside: dict[str, object]) -> None:
    await tab.show("<p>x")
    assert (await tab.error("screenshot", marks=True, **beside))["code"] == "VALIDATION_ERROR"
