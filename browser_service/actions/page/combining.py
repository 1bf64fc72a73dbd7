"""Runs several actions in one call."""

from browse_together.contract.actions import combining
from browse_together.contract.model import Json
from browser_service.actions.support.forms import Form
from browser_service.actions.support.refill import refill as refill_lost
from browser_service.host.handle.page import BrowserPage


async def batch(page: BrowserPage, action: combining.Batch) -> Json:
    return {"steps": [await page.do(step) for step in action.steps]}


async def fill_form(page: BrowserPage, action: combining.FillForm) -> Json:
    form = Form(page, action)
    await form.find_kinds()
    await form.fill()
    report = await form.report()
    if action.submit:
        await form.submit(action.submit)
    return report


async def refill(page: BrowserPage, action: combining.Refill) -> Json:
    return await refill_lost(page, action.timeout)
