"""The error tree, and what machines read of it."""

import inspect

from hearteval import errors
from hearteval.errors import HeartError, NotIdentifiedError, SettingsError


def test_kind_is_the_snake_case_name() -> None:
    assert SettingsError("x").kind == "settings"
    assert NotIdentifiedError("x").kind == "not_identified"


def test_every_error_stands_in_the_tree_of_the_module_docstring() -> None:
    names = [
        name
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, HeartError)
    ]
    assert len(names) >= 5
    assert all(name in (errors.__doc__ or "") for name in names)


def test_components_become_tuples() -> None:
    assert NotIdentifiedError("x", components=[["a"], ["b", "c"]]).components == (
        ("a",),
        ("b", "c"),
    )
