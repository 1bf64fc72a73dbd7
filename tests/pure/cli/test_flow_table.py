"""Tests what a table has to be like so that a flow runs for each of its rows."""

from pathlib import Path

import pytest

from browse_together.contract.errors import ValidationFailed
from browse_together.contract.flows import Flow
from browser_service.cli.flow_table import rows_of

FLOW = Flow.model_validate(
    {
        "version": 1,
        "name": "sign-up",
        "parameters": {"email": {}, "plan": {"default": "Free"}},
        "steps": [{"action": "fill", "selector": ["#email"], "value": "{{email}} {{plan}}"}],
    }
)


def table(folder: Path, content: str | bytes) -> Path:
    path = folder / "people.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    "content",
    [
        "email,plan\na@x.org,Pro\nb@x.org,\n",
        "\ufeffemail;plan\r\na@x.org;Pro\r\n\r\n;\r\nb@x.org;\r\n",
        'email,"plan; with tax; net; all",plan\na@x.org,1,Pro\nb@x.org,,\n',
        "notes\temail\tplan\n1, 2\ta@x.org\tPro\n\tb@x.org\t\n",
    ],
)
def test_tables_of_spreadsheets_are_read_and_empty_rows_left_out(tmp_path: Path, content: str) -> None:
    rows = [{"email": "a@x.org", "plan": "Pro"}, {"email": "b@x.org", "plan": ""}]
    assert rows_of(table(tmp_path, content), FLOW, {}) == rows


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "people.csv has no column 'email'; it has none."),
        ("mail,plan\nx,y\n", "people.csv has no column 'email'; it has 'mail', 'plan'."),
        ("email,email\na,b\n", "people.csv has the column 'email' more than once."),
        ("plan,email\nPro,a\nPro\n", "people.csv, line 3: values.email is missing"),
        ("email,plan\nDoe, Ana,Pro\n", "people.csv, line 2: it has more cells than there are columns."),
        ("email\nf\u00fcr\n".encode("latin-1"), "people.csv is not in UTF-8."),
        ("email\n" + "a" * 200_000, "people.csv is no CSV: field larger than field limit"),
    ],
)
def test_a_table_that_cannot_be_meant_is_refused_before_any_row(
    tmp_path: Path, content: str | bytes, told: str
) -> None:
    with pytest.raises(ValidationFailed) as refused:
        rows_of(table(tmp_path, content), FLOW, {})
    assert told in refused.value.message
