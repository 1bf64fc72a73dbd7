// Says in words what an act does and how it ended, for people: on the wall, in replays and on cards. Each verb stands in the
// present and in the past; "{number}" counts the fields that the act was given.

export const VERBS = {
  add_init_script: ["adds a script", "added a script"],
  add_session_init_script: ["adds a script to the session", "added a script to the session"],
  batch: ["does several things", "did several things"],
  block_requests: ["blocks requests", "blocked requests"],
  blur: ["leaves a field", "left a field"],
  browser_click: ["clicks", "clicked"],
  browser_launch: ["starts a browser", "started a browser"],
  browser_navigate: ["opens", "opened"],
  browser_quit: ["ends its browser", "ended its browser"],
  browser_screenshot: ["takes a picture", "took a picture"],
  browser_type: ["types", "typed"],
  call_page_tool: ["uses a tool of the page", "used a tool of the page"],
  check: ["ticks", "ticked"],
  claim_page: ["takes the page", "took the page"],
  clear_cookies: ["deletes cookies", "deleted cookies"],
  clear_storage: ["empties the storage", "emptied the storage"],
  click: ["clicks", "clicked"],
  close_page: ["closes the page", "closed the page"],
  close_session: ["closes the session", "closed the session"],
  compare_screenshots: ["compares pictures", "compared pictures"],
  content: ["reads", "read"],
  create_session: ["makes a session", "made a session"],
  drag_and_drop: ["drags", "dragged"],
  drop: ["drops", "dropped"],
  emulate: ["shows it as another device", "showed it as another device"],
  evaluate_script: ["runs a script", "ran a script"],
  expect: ["checks", "checked"],
  export_har: ["exports the requests", "exported the requests"],
  export_session: ["exports the logins", "exported the logins"],
  extract_table: ["reads a table", "read a table"],
  fetch: ["sends a request", "sent a request"],
  fill: ["fills", "filled"],
  fill_form: ["fills {number} fields", "filled {number} fields"],
  find: ["looks for", "looked for"],
  focus: ["focuses", "focused"],
  generate_pdf: ["prints to a file", "printed to a file"],
  get_cookies: ["reads the cookies", "read the cookies"],
  give_back: ["gives the page back", "gave the page back"],
  go_back: ["goes back", "went back"],
  go_forward: ["goes forward", "went forward"],
  goto: ["opens", "opened"],
  grant_permissions: ["grants permissions", "granted permissions"],
  halt_agent: ["pauses, stops or lets go on", "paused, stopped or let go on"],
  hand_over_page: ["hands the page over", "handed the page over"],
  handle_dialog: ["answers the dialog", "answered the dialog"],
  highlight: ["outlines", "outlined"],
  hold_page: ["keeps the page", "kept the page"],
  hover: ["hovers over", "hovered over"],
  import_login: ["brings a login in", "brought a login in"],
  login: ["asks you to sign in", "asked you to sign in"],
  mend_flow: ["mends a flow", "mended a flow"],
  mock_response: ["answers requests itself", "answered requests itself"],
  mouse: ["uses the mouse", "used the mouse"],
  open_page: ["opens", "opened"],
  paste: ["pastes", "pasted"],
  press: ["presses", "pressed"],
  record_video: ["records a video", "recorded a video"],
  refill: ["fills in again", "filled in again"],
  release_page: ["gives the page up", "gave the page up"],
  reload_page: ["reloads", "reloaded"],
  remove_init_scripts: ["removes scripts", "removed scripts"],
  remove_routes: ["removes mocks and blocks", "removed mocks and blocks"],
  remove_session_init_scripts: ["removes the session’s scripts", "removed the session’s scripts"],
  remove_storage: ["removes from the storage", "removed from the storage"],
  request_human: ["asks you", "asked you"],
  restore_session_state: ["restores the logins", "restored the logins"],
  run_flow: ["runs a flow", "ran a flow"],
  save_flow: ["saves a flow", "saved a flow"],
  save_session_state: ["saves the logins", "saved the logins"],
  screenshot: ["takes a picture", "took a picture"],
  scroll: ["scrolls", "scrolled"],
  select_option: ["chooses", "chose"],
  set_cookies: ["sets cookies", "set cookies"],
  set_dialog_policy: ["chooses how dialogs are answered", "chose how dialogs are answered"],
  set_extra_headers: ["sets headers", "set headers"],
  set_session_headers: ["sets the session’s headers", "set the session’s headers"],
  set_storage: ["writes to the storage", "wrote to the storage"],
  share_page: ["shares the page", "shared the page"],
  share_session: ["shares the session", "shared the session"],
  snapshot: ["reads", "read"],
  start_tracing: ["starts a trace", "started a trace"],
  stop_tracing: ["ends the trace", "ended the trace"],
  take_over: ["takes the page over", "took the page over"],
  tell_agent: ["writes to an agent", "wrote to an agent"],
  tell_person: ["writes to you", "wrote to you"],
  type: ["types", "typed"],
  uncheck: ["unticks", "unticked"],
  upload_file: ["gives a file", "gave a file"],
  wait: ["waits", "waited"],
  wait_for_load: ["waits until it has loaded", "waited until it has loaded"],
  wait_for_navigation: ["waits for a page", "waited for a page"],
  wait_for_request: ["waits for a request", "waited for a request"],
  wait_for_response: ["waits for an answer", "waited for an answer"],
  wait_for_selector: ["waits for an element", "waited for an element"],
  wait_for_url: ["waits for the address", "waited for the address"],
};

/** Acts that press or hover over a point. */
export const POINTED = ["click", "hover", "check", "uncheck", "drag_and_drop"];

const MOST_RECORDED = 10; // of several fields, the record has no more

const said = (name, tense, fields) => {
  const number = fields > 0 && fields <= MOST_RECORDED ? `${fields} ` : "";
  return (VERBS[name]?.[tense] ?? name.replaceAll("_", " ")).replace("{number} ", number).replace(" 1 fields", " 1 field");
};

/** Returns what an act does, in the third person. An act without a verb of its own goes by its name. */
export const verb = (name) => said(name, 0);

/** Returns what an act did, or that it failed. */
export const deed = (name, fields = 0, failed = false) => (failed ? `${name.replaceAll("_", " ")} failed` : said(name, 1, fields));

/** Returns what an act does, or what came of it. */
export const shown = ({ action, state }) => (state === "running" ? verb(action) : deed(action, 0, state === "failed"));

const NAME = /\[name=(?:"((?:[^"\\]|\\.)+)"|([^\]]+))\]/;
const BY_WORDS = /^(?:text|label|placeholder|alt|title)="?(.+?)"?$/;

/** Returns the name of the element that a selector finds, if it says one, or the selector. */
export function called(selector) {
  const [, quoted, bare] = NAME.exec(selector) ?? BY_WORDS.exec(selector) ?? [];
  return quoted?.replace(/\\(.)/g, "$1") ?? bare ?? selector;
}

/** Why an act has no picture. */
export const UNPICTURED = {
  secret: "Not pictured: a password or a code might have been seen.",
  slow: "Not pictured: it was not known in time whether a password or a code could be seen.",
  followed: "Not pictured: the next act followed at once.",
};

export const OUTCOMES = {
  AFFECTS_OTHERS: "Refused: it would touch pages that others have",
  AMBIGUOUS_SELECTOR: "Several elements match",
  BROWSER_CRASHED: "The browser ended meanwhile",
  BROWSER_LAUNCH_FAILED: "No browser could be started",
  CANCELLED: "It was stopped before it did anything",
  DIALOG_OPEN: "A dialog of the page waits for its answer",
  ELEMENT_GONE: "The element is not there any more",
  ELEMENT_NOT_FOUND: "There is no such element",
  ELEMENT_NOT_INTERACTABLE: "The element cannot be used: it is hidden, disabled or covered",
  FLOW_STOPPED: "The page is not as the flow expects",
  FORBIDDEN: "Refused: it is not allowed",
  HUMAN_IN_CONTROL: "Refused: a person has the page in hand",
  INTERNAL_ERROR: "The service failed",
  INVALID_REQUEST: "It was asked for wrongly",
  INVALID_SELECTOR: "The selector cannot be read",
  LOGIN_REQUIRED: "The site asks for a name and a password",
  NAVIGATION_FAILED: "The address did not load",
  NETWORK_ERROR: "The request failed",
  NOT_AS_EXPECTED: "It is not as expected",
  PAGE_NOT_FOUND: "There is no such page",
  PAGE_OWNED: "Refused: another agent has the page",
  PAGE_REQUIRED: "It named no page",
  RATE_LIMITED: "Refused: it came too fast",
  RESOURCE_EXHAUSTED: "Refused: a limit is reached",
  SCRIPT_EXECUTION_FAILED: "The script failed",
  SERVICE_UNAVAILABLE: "The service could not be reached",
  SESSION_EXPIRED: "The session’s time is over",
  SESSION_NOT_FOUND: "There is no such session",
  STALE_REVISION: "Refused: the page has moved on",
  TIMEOUT: "It took too long",
  UNAUTHORIZED: "Refused: it could not say who it is",
  UNKNOWN_OUTCOME: "It was stopped; what became of it is not known",
  VALIDATION_ERROR: "It was asked for wrongly",
};

/** Returns how an act ended, in a sentence. */
export const outcome = ({ outcome: code, stopped }) => (stopped ? "Refused: a person has stopped the agent" : OUTCOMES[code] ?? code);

/** Returns what a refusal has in common with those that repeat it, which are told once; empty if the act is none. */
export const refusal = (act, words) => (outcome(act).startsWith("Refused") ? [act.client, act.action, words, act.pageId, outcome(act)].join("\n") : "");
