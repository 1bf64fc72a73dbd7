"""Makes fewer examples of each rule, because each of them is a whole contract."""

from hypothesis import settings

settings.register_profile("contract", settings.get_profile("ours"), max_examples=50)
settings.load_profile("contract")
