"""The owner's named secrets, which agents type without knowing them."""

from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints, field_validator

from browse_together.contract.model import Model
from browse_together.contract.wire import ID_PATTERN

LEAST_CHARACTERS: Final = 4
"""A shorter value would have to be hidden in many words of every page."""
MOST_CHARACTERS: Final = 4_096
MOST_SECRETS: Final = 50

SecretName = Annotated[str, StringConstraints(pattern=ID_PATTERN)]
Origins = Annotated[tuple[str, ...], Field(min_length=1, max_length=20, description="Such as https://shop.example.")]


class OneTimeCodes(Model):
    """How to make codes from a site's authenticator secret (RFC 6238)."""

    digits: int = Field(default=6, ge=6, le=8)
    period: int = Field(default=30, ge=10, le=300, description="Seconds for which a code is valid.")
    algorithm: Literal["SHA1", "SHA256", "SHA512"] = "SHA1"


class NamedSecret(Model):
    """A secret, and the only origins that get it."""

    name: SecretName
    value: str = Field(repr=False, min_length=LEAST_CHARACTERS, max_length=MOST_CHARACTERS)
    origins: Origins
    codes: OneTimeCodes | None = Field(default=None, description="The value is the key of an authenticator's codes.")

    @field_validator("value")
    @classmethod
    def _one_line(cls, value: str) -> str:
        if any(sign in value for sign in "\r\n\0"):
            raise ValueError("a secret is one line")
        return value
