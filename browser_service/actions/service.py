"""Handles actions that touch no browser: each handler asks the service itself."""

from browse_together.contract import help_text
from browse_together.contract.actions import activity, calls, files, flows, hands, pages, people, sessions, seven
from browse_together.contract.actions import help as asking
from browse_together.contract.model import Json
from browser_service.observability.search import search
from browser_service.spine.ports import ServiceContext


async def browser_launch(service: ServiceContext, action: seven.BrowserLaunch) -> Json:
    browser = service.launched_browser
    return await browser.launch(browser.shared.with_launch(action))


async def browser_quit(service: ServiceContext, _: seven.BrowserQuit) -> Json:
    return await service.launched_browser.quit()


async def create_session(service: ServiceContext, action: sessions.CreateSession) -> Json:
    return await service.sessions.create(service.client, action, service.logins_to_copy)


async def get_session(service: ServiceContext, action: sessions.GetSession) -> Json:
    return await service.sessions.describe(service.session_of(action.session_id), service.client.client_id)


async def list_sessions(service: ServiceContext, action: sessions.ListSessions) -> Json:
    return service.list_sessions(action.user_id, persistent=action.persistent)


async def share_session(service: ServiceContext, action: sessions.ShareSession) -> Json:
    shared = action.access == "act"
    return await service.sessions.share(action.session_id, service.client.client_id, shared=shared)


async def extend_session(service: ServiceContext, action: sessions.ExtendSession) -> Json:
    return await service.sessions.extend(action.session_id, service.client.client_id, action.ttl)


async def close_session(service: ServiceContext, action: sessions.CloseSession) -> Json:
    return await service.sessions.close(action.session_id, service.client.client_id)


async def list_pages(service: ServiceContext, action: pages.ListPages) -> Json:
    return await service.list_pages(action.session_id, whole=action.whole)


async def help_(service: ServiceContext, action: asking.Help) -> Json:
    limits = service.limits
    if action.toolset is None:
        return {"help": help_text.action_help(action.tool, limits) if action.tool else help_text.overview(limits)}
    texts = [help_text.action_help(action.tool, limits)] if action.tool else []
    return {"help": "\n\n".join([*texts, help_text.toolset_help(action.toolset, limits)]), "toolset": action.toolset}


async def list_downloads(service: ServiceContext, action: files.ListDownloads) -> Json:
    return await service.list_downloads(action.wait)


async def get_call(service: ServiceContext, action: calls.GetCall) -> Json:
    return await service.get_call(action.call_id, action.wait)


async def cancel_call(service: ServiceContext, action: calls.CancelCall) -> Json:
    return await service.cancel_call(action.call_id)


async def save_flow(service: ServiceContext, action: flows.SaveFlow) -> Json:
    return await service.flows.save(service.caller, action)


async def run_flow(service: ServiceContext, action: flows.RunFlow) -> Json:
    return await service.flows.run(service.caller, action, service.ports_of_flows)


async def mend_flow(service: ServiceContext, action: flows.MendFlow) -> Json:
    return await service.flows.mend(service.caller, action, service.ports_of_flows)


async def list_flows(service: ServiceContext, action: flows.ListFlows) -> Json:
    return await service.flows.listed(service.caller, action, service.ports_of_flows.check)


async def get_activity(service: ServiceContext, action: activity.GetActivity) -> Json:
    return await search(service.activity, action, service.client.client_id)


async def tell_person(service: ServiceContext, action: people.TellPerson) -> Json:
    return await service.talk.to_person(service.client, action.message)


async def tell_agent(service: ServiceContext, action: hands.TellAgent) -> Json:
    about, page_id = action.about, action.page_id
    return await service.talk.to_agents(service.caller, action.to, action.message, about=about, page_id=page_id)


async def halt_agent(service: ServiceContext, action: hands.HaltAgent) -> Json:
    return await service.talk.halt(service.caller, action.to, action.how)
