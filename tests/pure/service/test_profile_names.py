"""Tests how the profile and account of a person's browser are named from its own files."""

import json
from pathlib import Path

import pytest

from browse_together.contract.model import Json
from browser_service.host.sessions.profile_names import profile_of

ANA: Json = {"name": "Ana", "user_name": "ana@mail.example"}
BEN: Json = {"name": "Ben", "user_name": ""}


@pytest.mark.parametrize(
    ("profiles", "named"),
    [
        ({}, ""),
        ({"info_cache": {"Default": BEN}}, "profile 'Ben' of ben@mail.example"),
        (
            {"info_cache": {"Default": BEN, "Profile 1": ANA}, "last_used": "Profile 1"},
            "profile 'Ana' of ana@mail.example",
        ),
        (
            {"info_cache": {"Default": BEN, "Profile 1": ANA}, "last_active_profiles": ["Profile 1", "Default"]},
            "the profile used last of 'Ana' of ana@mail.example, 'Ben' of ben@mail.example",
        ),
        ({"info_cache": {"Default": {"name": "A\n'B"}}, "last_used": "gone"}, 'profile "A \'B" of ben@mail.example'),
        ({"info_cache": "odd", "last_active_profiles": [1]}, ""),
    ],
)
def test_a_profile_is_named_with_its_account_and_of_several_in_use_all(
    tmp_path: Path, profiles: Json, named: str
) -> None:
    (tmp_path / "Default").mkdir()
    preferences = {"account_info": [{"email": "ben@mail.example"}]}
    (tmp_path / "Default" / "Preferences").write_text(json.dumps(preferences))
    (tmp_path / "Local State").write_text(json.dumps({"profile": profiles}))
    assert profile_of(tmp_path) == named


def test_files_that_are_missing_or_damaged_name_nothing(tmp_path: Path) -> None:
    assert profile_of(tmp_path) == ""
    (tmp_path / "Local State").write_text("no JSON")
    assert profile_of(tmp_path) == ""
