"""Has a person sign in where a site asks for it, and goes on with what is behind the login.

python -m examples.python.orders &
python -m examples.python.login http://127.0.0.1:8901
"""

import sys

from browse_together import Browser, Page


def sign_in(page: Page) -> None:
    """Ask a person to sign in, unless the page shows that somebody is. Raises SystemExit if nobody does it."""
    if not page.find_elements("input[type=password]").count:
        return
    asked = page.request_human(kind="login", message="Sign in, so that the orders can be read.")
    if not asked.done:
        raise SystemExit(asked.observed)


def main(url: str) -> None:
    with Browser(label="orders") as browser:
        page = browser.page("orders")
        page.goto(url)
        sign_in(page)
        for row in page.extract_table():
            print(row["Order"], row["Customer"], row["Total"])


if __name__ == "__main__":
    main(sys.argv[1])
