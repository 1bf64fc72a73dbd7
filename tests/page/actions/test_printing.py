"""Tests PDF: how many sheets of which size, and their content."""

import io

import pytest
from pypdf import PdfReader

from tests.support.json import AnyJson
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

POINTS_AN_INCH = 72
SHEETS = """<title>Invoice</title><style>body {margin: 0} .red {background: red; height: 60px}
p {break-after: page} @media print {.screen {display: none}} @media screen {.paper {display: none}}</style>
<h1>Bill</h1><div class=red></div><span class=screen>on screen</span><span class=paper>on paper</span>
<p>one<p>two<p>three"""


async def _pdf(tab: Tab, **arguments: AnyJson) -> PdfReader:
    artifact = (await tab.call("generate_pdf", **arguments))["artifact"]
    got = await tab.agent.http.get(artifact["url"])
    assert (got.status_code, got.headers["content-type"], len(got.content)) == (
        200,
        "application/pdf",
        artifact["size"],
    )
    return PdfReader(io.BytesIO(got.content))


def _inches(pdf: PdfReader) -> tuple[float, float]:
    box = pdf.pages[0].mediabox
    return float(box.width) / POINTS_AN_INCH, float(box.height) / POINTS_AN_INCH


def _paints(pdf: PdfReader) -> bool:
    """Return whether something red is filled on the first sheet."""
    return b"1 0 0 rg" in pdf.pages[0].get_contents().get_data()  # type: ignore[union-attr] # a sheet has contents


async def test_generate_pdf_prints_every_sheet_in_the_form_for_print(tab: Tab) -> None:
    await tab.show(SHEETS)
    pdf = await _pdf(tab)
    text = [page.extract_text() for page in pdf.pages]
    assert len(text) == 3
    assert _inches(pdf) == pytest.approx((8.5, 11), abs=0.03)
    assert "Bill" in text[0]
    assert "on paper" in text[0]
    assert "on screen" not in text[0]
    assert [word in sheet for word, sheet in zip(("one", "two", "three"), text, strict=True)] == [True] * 3
    assert not _paints(pdf)
    assert await tab.sees("matchMedia('print').matches") is False


async def test_generate_pdf_on_other_paper(tab: Tab) -> None:
    for style, arguments, inches in (
        ("", {"format": "A4"}, (8.27, 11.69)),
        ("", {"format": "a5", "landscape": True}, (8.27, 5.83)),
        ("", {"width": "10cm", "height": 480}, (3.94, 5)),
        ("<style>@page {size: 5in 7in}</style>", {"params": {"preferCSSPageSize": True}}, (5, 7)),
    ):
        await tab.show(SHEETS + style)
        assert _inches(await _pdf(tab, **arguments)) == pytest.approx(inches, abs=0.03)


async def test_generate_pdf_of_some_pages_with_colours_margins_header_and_footer(tab: Tab) -> None:
    await tab.show(SHEETS)
    pdf = await _pdf(
        tab,
        pageRanges="1, 3",
        printBackground=True,
        margin={"top": "3cm", "bottom": "2cm", "left": 20},
        displayHeaderFooter=True,
        headerTemplate="<span style='font-size: 9px'>head of <span class=url></span></span>",
        footerTemplate="<span style='font-size: 9px'>sheet <span class=pageNumber></span> of "
        "<span class=totalPages></span></span>",
        scale=0.5,
        outline=True,
        tagged=True,
    )
    first, second = (page.extract_text() for page in pdf.pages)
    assert f"head of {await tab.sees('location.href')}" in first
    assert "sheet 1 of 3" in first
    assert "sheet 3 of 3" in second
    assert ("two" in first + second, "three" in second) == (False, True)
    assert _paints(pdf)
    assert [str(entry.title) for entry in pdf.outline] == ["Bill"]  # type: ignore[union-attr] # one level
    assert "/StructTreeRoot" in pdf.trailer["/Root"]  # type: ignore[operator] # a dictionary


async def test_generate_pdf_refuses_what_cannot_be_printed_and_names_it(tab: Tab) -> None:
    refused: list[tuple[dict[str, AnyJson], str]] = [
        ({"format": "A9"}, "format"),
        ({"width": "wide"}, "width"),
        ({"format": "A4", "width": "10cm"}, "width"),
        ({"scale": 3}, "scale"),
        ({"pageRanges": "first"}, "pageRanges"),
        ({"margin": {"top": "-1cm"}}, "margin.top"),
        ({"path": "out.pdf"}, "path"),
    ]
    for wrong, field in refused:
        error = await tab.error("generate_pdf", pageId="none", **wrong)
        named = error["details"]["context"]["field"]
        assert (error["code"], error["status"], named) == ("VALIDATION_ERROR", 422, field)


async def test_generate_pdf_of_sheets_that_are_not_there_says_so(tab: Tab) -> None:
    await tab.show(SHEETS)
    for ranges in ("9", "2-1"):
        error = await tab.error("generate_pdf", pageRanges=ranges)
        assert (error["code"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", "pageRanges")
