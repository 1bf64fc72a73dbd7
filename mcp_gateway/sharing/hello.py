"""Reads what a launcher says first: how it was started, and what is known of its chat."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

from mcp_gateway.sharing import frames

Spelt = Annotated[str, AfterValidator(frames.given)]


class Hello(BaseModel):
    """Says how a launcher was started, and what another process knew of its chat."""

    model_config = ConfigDict(extra="forbid")

    arguments: list[Spelt]
    folder: Spelt
    client_id: str
    """The chat's, unless its settings or its host say another."""
    generation: int = 0
    """How many processes have served the chat before."""
    state: dict[str, list[str]] = {}
    cancelled: list[str] = []
    """The calls that were cancelled, and perhaps never came to be."""


def variables(text: bytes) -> Iterator[tuple[str, str]]:
    """Yield the variables of the launcher's environment."""
    for each in filter(None, text.split(b"\0")):
        name, _, value = each.partition(b"=")
        yield name.decode(errors="surrogateescape"), value.decode(errors="surrogateescape")
