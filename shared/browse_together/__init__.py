"""The Python client, and the programs of the commands.

```python
from browse_together import Browser

with Browser() as browser:
    page = browser.page("orders")
    page.goto("https://shop.example/orders")
    rows = page.extract_table()
```

The commands import this too, and start quickly: the client is imported when it is asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from browse_together.asynchronous import AsyncBrowser, AsyncPage
    from browse_together.browser import Browser, Page
    from browse_together.refusals import BrowseError

__all__ = ["AsyncBrowser", "AsyncPage", "BrowseError", "Browser", "Page"]


def __getattr__(name: str) -> object:
    places = {"AsyncBrowser": "asynchronous", "AsyncPage": "asynchronous", "BrowseError": "refusals"}
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{places.get(name, 'browser')}"), name)
