// Keeps the tabs of each agent in a tab group, and tells when a person drags a tab in or out of one.

const SETTLED_MS = 400; // a tab that is dragged along the strip passes groups
const NONE = -1; // chrome.tabGroups.TAB_GROUP_ID_NONE

export class Strip {
  #tabOf = new Map(); // by target
  #targetOf = new Map(); // by tab
  #groups = new Map(); // agents by group, as this extension made them
  #placed = new Map(); // the group that each tab was last seen or put in
  #fresh = new Set(); // tabs that have just come: the browser puts them into their opener's group
  #state = { tabs: {}, agents: [] };
  #settling = new Map();
  #last = Promise.resolve();

  /** `tell` gets the targets of this browser when they change, and `move` a person's wish; it returns its refusal. */
  constructor(tell, move) {
    Object.assign(this, { tell, move });
    this.#next(async () => {
      const kept = await chrome.storage.session.get(["groups", "placed"]);
      this.#groups = new Map(kept.groups);
      this.#placed = new Map(kept.placed);
    });
    chrome.tabs.onCreated.addListener(({ id }) => {
      this.#fresh.add(id);
      this.#settle(id);
    });
    chrome.tabs.onUpdated.addListener((id, { groupId, status }) => (groupId !== undefined || status) && this.#settle(id));
    chrome.tabs.onReplaced.addListener(() => this.look());
    chrome.tabs.onRemoved.addListener((id) => {
      this.#placed.delete(id);
      this.#fresh.delete(id);
      this.look();
    });
  }

  targetOf(tabId) {
    return this.#targetOf.get(tabId);
  }

  /** Learns the targets of this browser's tabs. Attaches to none. */
  look() {
    return this.#next(() => this.#look());
  }

  show(state) {
    this.#state = state;
    return this.#next(() => this.#arrange());
  }

  forget() {
    this.told = "";
  }

  /** Works one after the other, so that no event is taken for a person's that is ours. */
  #next(work) {
    this.#last = this.#last.then(work).catch((error) => console.warn(error.message));
    return this.#last;
  }

  async #look() {
    const pages = (await chrome.debugger.getTargets()).filter(({ type, tabId }) => type === "page" && tabId !== undefined);
    this.#tabOf = new Map(pages.map(({ id, tabId }) => [id, tabId]));
    this.#targetOf = new Map(pages.map(({ id, tabId }) => [tabId, id]));
    const targets = [...this.#tabOf.keys()].sort();
    if (this.told !== JSON.stringify(targets)) {
      this.told = JSON.stringify(targets);
      this.tell(targets);
    }
  }

  #settle(tabId) {
    clearTimeout(this.#settling.get(tabId));
    const timer = setTimeout(() => this.#next(() => {
      if (this.#settling.get(tabId) !== timer) return null; // it was moved again while this waited
      this.#settling.delete(tabId);
      return this.#settled(tabId);
    }), SETTLED_MS);
    this.#settling.set(tabId, timer); // until its turn comes, so that what is being done does not move it back
  }

  /** Finds out whether a person moved a tab to another group, and asks for what that means. */
  async #settled(tabId) {
    const isFresh = this.#fresh.delete(tabId);
    await this.#look();
    const tab = await chrome.tabs.get(tabId).catch(() => null);
    if (!tab) return;
    const was = this.#groups.get(this.#placed.get(tabId));
    const to = this.#groups.get(tab.groupId);
    const target = this.#targetOf.get(tabId);
    if (tab.groupId !== (this.#placed.get(tabId) ?? NONE)) {
      this.#place(tabId, tab.groupId);
      if (target && was !== to && !isFresh) await this.move(target, to ?? "");
    }
    await this.#arrange(); // it was left alone meanwhile, or goes back because that was refused
  }

  /** Puts each agent's tabs into its group. Tabs that a person pinned, or has in a group of theirs, stay there. */
  async #arrange() {
    const agents = new Map(this.#state.agents.map((agent) => [agent.to, agent]));
    for (const tab of await chrome.tabs.query({})) {
      if (this.#settling.has(tab.id) || tab.pinned) continue;
      const to = this.#state.tabs[this.#targetOf.get(tab.id)]?.owner ?? undefined;
      const now = this.#groups.get(tab.groupId);
      if (to === now || (tab.groupId !== NONE && !now)) continue;
      try {
        if (!agents.has(to)) await chrome.tabs.ungroup(tab.id);
        else await this.#join(tab, agents.get(to));
        this.#place(tab.id, (await chrome.tabs.get(tab.id)).groupId);
      } catch { /* it was closed, is being dragged, or its window has no tab strip */ }
    }
  }

  async #join(tab, agent) {
    const here = await chrome.tabGroups.query({ windowId: tab.windowId });
    const group = here.find(({ id }) => this.#groups.get(id) === agent.to);
    const where = group ? { groupId: group.id } : { createProperties: { windowId: tab.windowId } };
    const groupId = await chrome.tabs.group({ tabIds: [tab.id], ...where });
    if (group) return;
    this.#groups.set(groupId, agent.to);
    await chrome.tabGroups.update(groupId, { title: agent.label, color: agent.colour });
  }

  #place(tabId, groupId) {
    this.#placed.set(tabId, groupId);
    chrome.storage.session.set({ groups: [...this.#groups], placed: [...this.#placed] });
  }
}
