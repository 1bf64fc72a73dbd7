"""Checks the names of toolsets. It imports no catalogue, because a gateway answers with this before that is loaded."""

from collections.abc import Collection

from browse_together.contract import written


def words(text: str) -> frozenset[str]:
    """Split a text at commas and spaces into names."""
    return frozenset(text.replace(",", " ").split())


def valid_toolsets(names: Collection[str]) -> frozenset[str]:
    """Return the names that are toolsets; `core` if none is."""
    return frozenset(written.toolset_names()).intersection(names) or frozenset({"core"})


def toolset_problem(names: Collection[str]) -> str:
    """Return which names are no toolset, what is listed instead, and which toolsets exist; empty if all are right."""
    unknown = sorted(set(names).difference(written.toolset_names()))
    if not unknown:
        return ""
    no_such = f"no toolset is called {', '.join(unknown)}; listed is {', '.join(sorted(valid_toolsets(names)))}."
    return f"BROWSE_TOOLSETS: {no_such} There are: {', '.join(written.toolset_names())}."
