"""Translates a session's options into Playwright's options of a context."""

from typing import Any

from shared.pages import SessionOptions


def context_options(options: SessionOptions, user_agent: str | None) -> dict[str, Any]:  # Any: what new_context takes
    """Translate the options; `user_agent` stands in where the session names none."""
    found: dict[str, Any] = {  # Any: as there
        "viewport": options.viewport.model_dump(),
        "user_agent": options.user_agent or user_agent,
        "locale": options.locale,
        "timezone_id": options.timezone,
        "permissions": options.permissions or None,
        "proxy": options.proxy.model_dump(exclude_none=True) if options.proxy else None,
    }
    return {name: value for name, value in found.items() if value is not None}
