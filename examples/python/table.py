"""Reads a table of a page, and a file that it offers, into pandas.

python -m examples.python.orders &
pip install pandas
python -m examples.python.table http://127.0.0.1:8901
"""

import sys

import pandas as pd

from browse_together import Browser
from examples.python.login import sign_in


def main(url: str) -> None:
    with Browser(label="totals") as browser:
        page = browser.page("totals")
        page.goto(url)
        sign_in(page)
        shown = pd.DataFrame(page.extract_table()).astype({"Total": float})
        [export] = page.click("role=link[name='Export']").downloads
        exported = pd.read_csv(export)
    print(shown.set_index("Order")[["Customer", "Total"]])
    print("The export has the same total:", shown["Total"].sum() == exported["Total"].sum())


if __name__ == "__main__":
    main(sys.argv[1])
