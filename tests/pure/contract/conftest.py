"""Gives generated examples no deadline, because a busy machine is no defect."""

from hypothesis import settings

settings.register_profile("contract", deadline=None, max_examples=50)
settings.load_profile("contract")
