"""One module a category, one class an action; its docstring is what a model reads."""
