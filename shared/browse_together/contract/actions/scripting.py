"""Running JavaScript in a page, and requests sent from it with its cookies."""

import json
from typing import Annotated, Literal

from pydantic import AliasChoices, Field, JsonValue, field_validator
from pydantic.json_schema import SkipJsonSchema

from browse_together.contract.actions.arguments import LONG_TEXT, Address, AnyJson, SecretHeader, Selector
from browse_together.contract.actions.base import PageAct, PageAction, SessionAct
from browse_together.contract.actions.traits import Alias, Effect, GivenScript, Lane, computed
from browse_together.contract.json_lines.strict import MOST_VALUES
from browse_together.contract.next_calls import next_call
from browse_together.contract.wire import MAX_MESSAGE_BYTES

LongText = Annotated[str, Field(max_length=MAX_MESSAGE_BYTES)]
Fields = Annotated[dict[str, AnyJson], Field(max_length=MOST_VALUES)]
Items = Annotated[list[AnyJson], Field(max_length=MOST_VALUES)]
HalfMinute = Annotated[int, Field(ge=1, le=120_000, description="Milliseconds it may take.")]


class EvaluateScript(PageAction):
    """Run JavaScript in the page and get its JSON result; promises are awaited.

    An expression, or a function. With `selector`, the function gets the element as its first argument."""

    everyday = ()
    effect = Effect.ACTS
    runs_script = GivenScript()
    text_key = "value"
    extra_keys = ("asText", "cut")
    untrusted = True
    aliases = (Alias("evaluate"), Alias("execute_script"))

    expression: str = Field(
        min_length=1,
        max_length=LONG_TEXT,
        validation_alias=AliasChoices("expression", "script"),
        description="Expression or function.",
    )
    arg: AnyJson = Field(default=None, description="JSON value given to the function.")
    selector: Selector | None = Field(default=None, description="Element for the function.")
    frame: Selector | None = Field(default=None, description="Selector of the iframe to run in.")
    timeout: HalfMinute = 30_000


InitScript = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100_000,
        validation_alias=AliasChoices("script", "expression"),
        description="JavaScript, such as `Math.random = () => 0.5`.",
    ),
]
ScriptIds = Annotated[list[str] | None, Field(max_length=20, description="Only these of list_routes.")]


class AddSessionInitScript(SessionAct):
    """Run JavaScript in each document of a session, before its own scripts.

    For a session of your own, also in frames, popups and later pages. For one page: add_init_script."""

    everyday = ()
    runs_script = GivenScript(later=True)
    shows_all_pages = True

    script: InitScript

    def narrower_calls(self) -> str:
        return (
            f"{next_call('add_init_script', page_id='...', script='...')} is for one page; " + super().narrower_calls()
        )


class AddInitScript(PageAct):
    """Run JavaScript in each later document of the page, before its own scripts.

    Also in its frames. With sessionId and no pageId: in all pages of a session of your own."""

    runs_script = GivenScript(later=True)

    script: InitScript

    def for_session(self) -> SessionAct | None:
        return AddSessionInitScript.model_validate({"sessionId": self.session_id, "script": self.script})


class RemoveSessionInitScripts(SessionAct):
    """Remove init scripts of a session: some, or all. Their effects stay until the next document."""

    everyday = ("scriptIds",)
    gives = False

    script_ids: ScriptIds = None


class RemoveInitScripts(PageAct):
    """Remove init scripts of the page: some, or all. Their effects stay until the next document."""

    gives = False
    lane = Lane.BESIDE
    needs_open_page = False

    script_ids: ScriptIds = None

    def for_session(self) -> SessionAct | None:
        given = {"sessionId": self.session_id, "scriptIds": self.script_ids}
        return RemoveSessionInitScripts.model_validate(given)


def _method(action: "Fetch") -> str:
    return action.method or "GET"


class Fetch(PageAction):
    """Send a request with the page's cookies.

    It has the page's origin. A PDF is kept as a file whatever the type. A header's value may be a secret's name, with
    what comes before it: {"secret": "api", "prefix": "Bearer "}. An HTTP error status is an error that carries status,
    headers and the body's start."""

    everyday = ("responseType", "method", "headers", "body")
    effect = Effect.ACTS
    request_method = computed("GET", _method)
    option_bags = ("params", "fetchOptions")
    loggable_arguments = frozenset({"method"})
    text_key = "body"
    extra_keys = ("status", "redirectedTo", "headers")
    untrusted = True

    url: Address = Field(min_length=1, description="Or a path.")
    response_type: Literal["text", "json", "binary"] = Field(default="text", description="binary: file.")
    method: str | None = Field(default=None, pattern=r"^[A-Za-z]+$", description="Else GET.")
    headers: dict[str, str | SecretHeader] | None = Field(
        default=None, max_length=200, description='Or {"secret": NAME}.'
    )
    body: LongText | Fields | Items | None = Field(default=None, description="Or JSON.")
    mode: Literal["cors", "no-cors", "same-origin", "navigate"] | None = Field(default=None, description="CORS mode.")
    credentials: Literal["omit", "same-origin", "include"] | None = Field(
        default=None, description="When cookies go along; same-origin by default."
    )
    cache: Literal["default", "no-store", "reload", "no-cache", "force-cache", "only-if-cached"] | None = Field(
        default=None, description="Use of the HTTP cache."
    )
    redirect: Literal["follow", "error", "manual"] | None = Field(default=None, description="What to do on redirects.")
    referrer: Address | None = Field(default=None, description="Referrer URL, or about:client.")
    referrer_policy: str | None = Field(default=None, description="Referrer policy.")
    integrity: str | None = Field(default=None, description="Subresource integrity hash.")
    keepalive: bool | None = Field(default=None, description="Let the request outlive the page.")
    priority: Literal["high", "low", "auto"] | None = Field(default=None, description="Fetch priority.")
    duplex: Literal["half"] | None = Field(default=None, description="Duplex mode.")
    window: SkipJsonSchema[None] = Field(default=None, description="Only null is allowed.")
    timeout: HalfMinute = 30_000

    @field_validator("method")
    @classmethod
    def _methods_are_upper_case(cls, value: str | None) -> str | None:
        return value.upper() if value else value

    def request_headers(self) -> dict[str, str | SecretHeader]:
        """Return the headers of the request, with the type of a body that is sent as JSON."""
        headers = self.headers or {}
        if isinstance(self.body, str | None) or any(name.lower() == "content-type" for name in headers):
            return headers
        return {**headers, "Content-Type": "application/json"}

    def request_init(self) -> dict[str, JsonValue]:
        """Return the second argument for the page's own `fetch()`. Headers with a secret are not in it."""
        not_init = {"url", "response_type", *type(self).common_fields(), "timeout", "headers"}
        init = self.model_dump(mode="json", by_alias=True, exclude=not_init, exclude_none=True)
        texts = {name: value for name, value in self.request_headers().items() if isinstance(value, str)}
        init |= {"headers": {**texts}} if texts else {}
        return init if isinstance(self.body, str | None) else {**init, "body": json.dumps(self.body)}
