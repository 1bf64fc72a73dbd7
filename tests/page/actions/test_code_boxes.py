"""Tests that boxes of one character each take a code, whether or not the page moves on by itself."""

import pytest

from browse_together.contract.named_secrets import NamedSecret
from tests.support.json import AnyJson
from tests.support.service import RunningService
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.thorough, pytest.mark.one_window]

BOXES = "<p>Code we sent</p><div>" + "<input maxlength=1 size=1>" * 6 + "</div><input id=name><script>{}</script>"
ALL = "[...document.querySelectorAll('div input')]"
MOVES_ON = f"{ALL}.forEach((e, i, all) => e.oninput = () => e.value && all[i + 1]?.focus())"
SPREADS = f"""document.querySelector('div').addEventListener('paste', e => {{ e.preventDefault();
  {ALL}.forEach((box, i) => box.value = e.clipboardData.getData('text')[i] || '') }})"""
EMPTIES = f"{ALL}.forEach((e, i, all) => e.onkeyup = () => i === 5 && all.forEach(box => box.value = ''))"


@pytest.mark.parametrize("script", ["", MOVES_ON, SPREADS])
async def test_boxes_of_one_character_take_a_code(tab: Tab, script: str) -> None:
    await tab.show(BOXES.format(script))
    given: AnyJson = {"selector": "div input >> nth=0", "value": "739104"}
    for act, arguments, observed in (
        ("fill", given, "as given, in 6 boxes of one character"),
        ("type", {"selector": given["selector"], "text": given["value"]}, "as given, in 6 boxes of one character"),
        ("fill_form", {"fields": [given]}, "1 field as given"),
    ):
        assert (await tab.call(act, **arguments))["observed"] == observed
        typed = await tab.sees(f"{ALL}.map(box => [box.value, box.value = ''][0]).join('')")
        assert typed == given["value"], act


@pytest.mark.parametrize("act", ["fill", "fill_form"])
async def test_a_secret_code_is_spread_over_the_boxes_too(tab: Tab, service: RunningService, act: str) -> None:
    await tab.show(BOXES.format(MOVES_ON))
    service.parts.secrets.set(NamedSecret(name="code", value="816350", origins=(tab.site.url("").rstrip("/"),)))
    given = {"selector": "div input >> nth=0", "value": {"secret": "code"}}
    result = await tab.call(act, **(given if act == "fill" else {"fields": [given]}))
    assert await tab.sees(f"{ALL}.map(box => Number(box.value) * 3)") == [24, 3, 18, 9, 15, 0]
    assert "816350" not in str(result)


async def test_boxes_that_the_page_empties_are_said_not_to_have_the_code(tab: Tab) -> None:
    await tab.show(BOXES.format(EMPTIES))
    error = await tab.error("fill", selector="div input >> nth=0", value="739104")
    assert "boxes of one character show 0 characters" in error["message"]


async def test_a_text_that_is_too_long_for_the_boxes_is_not_spread(tab: Tab) -> None:
    await tab.show(BOXES.format(""))
    error = await tab.error("fill", selector="div input >> nth=4", value="739104")
    assert "it takes 1 character at most (maxlength), not 6" in error["message"]
    assert await tab.sees("document.querySelector('#name').value") == ""


async def test_a_text_that_maxlength_cuts_is_said_to_be_cut_by_it(tab: Tab) -> None:
    await tab.show("<input id=zip maxlength=6>")
    limit = "it takes 6 characters at most (maxlength), not 10"
    error = await tab.error("fill", selector="#zip", value="1234567890")
    assert error["message"] == f"The field shows '123456' instead of '1234567890', because {limit}."
    assert "press" not in error["hint"]
    assert limit in (await tab.error("fill_form", fields=[{"selector": "#zip", "value": "1234567890"}]))["message"]
    await tab.call("fill", selector="#zip", value="")
    assert limit in (await tab.call("type", selector="#zip", text="1234567890"))["observed"]
