"""Tests what `doctor` says of files, variables and memory, in this process."""

import os
from pathlib import Path

import pytest

from browse_together.client.instance import Instance
from browse_together.contract.data_files import JOURNAL_FILE
from browse_together.contract.secret import ensure_secret
from browse_together.contract.wire import INSTANCE_FILE, SECRET_FILE
from browser_service.cli import doctor
from browser_service.cli.doctor import check_config
from browser_service.cli.running import restart, rules_of
from browser_service.settings import Settings
from browser_service.store import journal_file


def test_a_directory_that_others_can_read_is_a_problem(tmp_path: Path) -> None:
    ensure_secret(tmp_path)
    tmp_path.chmod(0o755)
    check = doctor.check_secret(tmp_path)
    assert not check.ok
    assert f"chmod 700 {tmp_path}" in check.advice


def test_a_file_of_settings_is_named_and_its_secrets_are_not_for_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert check_config() == []
    file = tmp_path / "config.toml"
    file.write_text('max_pages = 50\ntoken = "s3cret"\n')
    file.chmod(0o640)
    monkeypatch.setenv("BROWSE_CONFIG", str(file))
    (check,) = check_config()
    assert (check.ok, check.found, check.advice) == (False, f"others may read token in {file}", f"chmod 600 {file}")
    file.chmod(0o600)
    (check,) = check_config()
    assert (check.ok, check.found) == (True, f"{file} sets max_pages, token")


def test_a_misspelt_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSE_AUTOSTART", "false")
    assert doctor.check_variables() == []
    monkeypatch.setenv("BROWSE_HEADLES", "true")
    (check,) = doctor.check_variables()
    assert (check.ok, check.found.startswith("BROWSE_HEADLES is no setting")) == (False, True)


def test_rules_for_acts_are_counted_and_told_if_they_are_wrong_or_later_than_the_service(tmp_path: Path) -> None:
    settings, instance = Settings(data_dir=tmp_path), tmp_path / INSTANCE_FILE
    assert doctor.check_rules(settings, None) == []
    file = settings.rules_file
    file.write_text('[[rule]]\nname = "a"\n', encoding="utf-8")
    os.utime(file, (1, 1))
    instance.touch()
    assert rules_of(settings, is_running=True) == (f"1 in {file}", "", True)
    os.utime(instance, (0, 0))
    assert rules_of(settings, is_running=True) == (
        f"1 in {file}, which changed since the service began",
        restart(settings.data_dir),
        True,
    )
    file.write_text("[[rule]]\n", encoding="utf-8")
    (check,) = doctor.check_rules(settings, None)
    assert (check.ok, check.name, "rule 1, name: Field required" in check.found) == (False, "rules", True)


def test_a_secret_that_makes_no_token_is_told_with_the_way_to_a_new_one(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    secret = tmp_path / SECRET_FILE
    secret.touch(mode=0o600)
    check = doctor.check_secret(tmp_path)
    assert (check.ok, check.found) == (False, f"The secret file {secret} is empty.")
    assert check.advice.startswith("Remove it and restart the service")
    secret.unlink()
    ensure_secret(tmp_path)
    assert doctor.check_secret(tmp_path).ok


def test_a_directory_that_cannot_be_made_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert not doctor.check_data_dir(tmp_path / "file" / "data").ok
    assert doctor.check_data_dir(tmp_path / "data").ok
    assert not (tmp_path / "data").exists()


def test_a_journal_that_cannot_be_used_is_told_with_what_becomes_of_it(tmp_path: Path) -> None:
    assert doctor.check_journal(tmp_path, None).ok
    file = tmp_path / JOURNAL_FILE
    file.write_bytes(b"no database" * 1_000)
    damaged = doctor.check_journal(tmp_path, None)
    assert (damaged.ok, "sets it aside" in damaged.advice) == (False, True)
    journal_file.connect(file)[0].close()
    (aside,) = doctor.check_aside(tmp_path)
    assert (aside.ok, aside.found.startswith(f"{JOURNAL_FILE}.damaged-")) == (True, True)
    assert doctor.check_journal(tmp_path, None).ok


@pytest.mark.parametrize(("browsers_mb", "is_fine"), [(19, True), (20, True), (21, False)])
def test_browsers_with_more_memory_than_their_limit_are_a_problem(
    monkeypatch: pytest.MonkeyPatch, browsers_mb: int, *, is_fine: bool
) -> None:
    monkeypatch.setattr("browse_together.client.instance.readiness", lambda _: {"memoryLimitMb": 20})
    monkeypatch.setattr(doctor, "exact_mb", lambda _: browsers_mb)
    check = doctor.check_memory(Instance(os.getpid(), "http://127.0.0.1", "", ""))
    assert f"its browsers {browsers_mb} MB of 20 MB" in check.found
    assert (check.ok, "close pages" in (check.advice or "")) == (is_fine, not is_fine)
