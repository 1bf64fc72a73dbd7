"""Tests how a secret is asked for where it is kept: by real commands."""

import asyncio
import shlex
from pathlib import Path

import psutil
import pytest
from pydantic import ValidationError

from browse_together.contract.errors import ValidationFailed, VaultLocked
from browser_service.security import secret_commands
from browser_service.security.named_secrets import NamedSecrets
from browser_service.security.seal import Seal
from browser_service.security.secret_commands import SecretCommand, SecretCommands, ask
from tests.support.waiting import become

pytestmark = pytest.mark.anyio

SHOP = ("https://shop.example",)


def _shell(script: str, *, totp: bool = False) -> SecretCommand:
    return SecretCommand(name="pw", command=f"/bin/sh -c {shlex.quote(script)}", origins=SHOP, totp=totp)


async def test_what_a_command_prints_is_the_secret_and_is_hidden_from_then_on_but_never_stored(tmp_path: Path) -> None:
    secrets = NamedSecrets(tmp_path, Seal(tmp_path))
    secrets.set(_shell("echo hunter22"))
    assert secrets.concealment.text("hunter22") == "hunter22", "nobody was given it"
    assert (await secrets.reveal(["pw"]))["pw"].value == "hunter22"
    assert secrets.concealment.text("it is hunter22") == "it is «secret:pw»"
    secrets.set(_shell("echo swordfish"))
    assert (await secrets.reveal(["pw"]))["pw"].value == "swordfish"
    assert secrets.concealment.text("hunter22 swordfish") == "«secret:pw» «secret:pw»"
    again = NamedSecrets(tmp_path, Seal(tmp_path))
    assert "hunter" not in repr(again.all())
    secrets.remove("pw")
    assert secrets.concealment.text("hunter22") == "hunter22"


async def test_a_key_that_is_kept_elsewhere_gives_codes() -> None:
    assert (await ask(_shell("echo jbsw y3dp ehpk 3pxp", totp=True))).codes is not None


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (_shell("echo Pl4nted >&2; exit 7"), "sh failed with exit code 7: its vault may be locked"),
        (SecretCommand(name="pw", command="/nowhere/vault read it", origins=SHOP), "vault does not start"),
    ],
)
async def test_a_command_that_fails_may_have_a_locked_vault_and_what_it_says_stays_out(
    command: SecretCommand, why: str
) -> None:
    with pytest.raises(VaultLocked, match=why) as failed:
        await ask(command)
    assert "Pl4nted" not in str(failed.value.body())


@pytest.mark.parametrize("script", ["echo abc", "echo one; echo Pl4nted", "yes Pl4nted"])
async def test_what_is_no_secret_is_refused_and_not_shown(script: str) -> None:
    with pytest.raises(ValidationFailed, match="What sh prints for the secret 'pw' is none") as failed:
        await ask(_shell(script))
    assert "Pl4nted" not in str(failed.value.body())


async def test_a_command_that_does_not_answer_is_ended_with_what_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secret_commands, "ANSWERS_WITHIN_S", 0.5)
    with pytest.raises(VaultLocked, match=r"no answer within 0\.5 s"):
        await ask(_shell(f"sleep 600 & echo $! > {tmp_path}/pid; wait"))
    pid = int((tmp_path / "pid").read_text())
    await become(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)


async def test_who_asks_while_a_command_runs_gets_its_answer_also_if_the_first_has_left(tmp_path: Path) -> None:
    go, log = tmp_path / "go", tmp_path / "log"
    command = _shell(f"echo x >> {log}; until [ -e {go} ]; do sleep 0.02; done; echo hunter22")
    commands = SecretCommands()
    asking = [asyncio.create_task(commands.answer(command)) for _ in range(3)]
    await become(log.exists)
    asking[0].cancel()
    go.touch()
    assert [(await each).value for each in asking[1:]] == ["hunter22"] * 2
    assert log.read_text() == "x\n"
    await commands.answer(command)
    assert log.read_text() == "x\nx\n", "each use asks"


def test_a_command_that_names_no_program_is_refused() -> None:
    for command in (" ", "'op read"):
        with pytest.raises(ValidationError):
            SecretCommand(name="pw", command=command, origins=SHOP)
