"""Packs all orders with two workers at once, each order by one of them.

python -m examples.python.orders &
python -m examples.python.workers http://127.0.0.1:8901
"""

import subprocess
import sys

from browse_together import Browser, Page
from browse_together.errors import PageNotFound, PageOwned
from examples.python.login import sign_in


def pack_all(url: str, name: str) -> None:
    """Pack the orders that nobody else packs. Each process is a client of its own, and each order has a page, which one
    client at a time holds."""
    with Browser(label=name) as browser:
        table = browser.page()
        table.goto(url)
        sign_in(table)
        for row in table.extract_table():
            page = browser.page(f"order-{row['Order']}")
            try:
                page.goto(url)
            except (PageOwned, PageNotFound):  # the other packs it, or has done so and closed its page just now
                continue
            if pack(page, row["Order"]):
                print(f"{name} packed {row['Order']}", flush=True)
            page.close_page()
        table.close_page()


def pack(page: Page, order: str) -> bool:
    """Pack an order, unless that was done since the table was read."""
    button = f"role=button[name='Pack {order}']"
    if not page.find_elements(button).count:
        return False
    page.click(button)
    return True


def main(url: str) -> None:
    workers = [subprocess.Popen([sys.executable, "-m", __spec__.name, url, name]) for name in ("first", "second")]
    sys.exit(max(worker.wait() for worker in workers))


if __name__ == "__main__":
    if sys.argv[2:]:
        pack_all(*sys.argv[1:])
    else:
        main(sys.argv[1])
