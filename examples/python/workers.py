"""Packs all orders with two workers at once, each order by one of them.

python -m examples.python.orders &
python -m examples.python.workers http://127.0.0.1:8901
"""

import subprocess
import sys

from browse_together import Browser, Page
from browse_together.errors import WorkOwned
from examples.python.login import sign_in


def pack_all(url: str, name: str) -> None:
    """Pack the orders that nobody else packs. Each process is a client of its own, with a page of its own."""
    with Browser(label=name) as browser:
        page = browser.page()
        page.goto(url)
        sign_in(page)
        for row in page.extract_table():
            try:
                browser.claim_work(f"order/{row['Order']}")
            except WorkOwned:
                continue
            if pack(page, row["Order"]):
                print(f"{name} packed {row['Order']}", flush=True)
            browser.release_work(f"order/{row['Order']}")
        page.close_page()


def pack(page: Page, order: str) -> bool:
    """Pack an order, unless that was done since the table was read."""
    page.reload_page()
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
