"""Asks the command line what a shell asks it to complete what is typed."""

from typer.testing import CliRunner

from browser_service.cli.root import app


def completions(*words: str, **variables: str) -> list[str]:
    """Return what the last word may become, with these variables in the environment."""
    typed = ["browse-together", *words]
    asked = {
        "COMP_WORDS": " ".join(typed),
        "COMP_CWORD": str(len(typed) - 1),
        "_BROWSE_TOGETHER_COMPLETE": "complete_bash",
    }
    return CliRunner().invoke(app, [], prog_name="browse-together", env=asked | variables).output.split()
