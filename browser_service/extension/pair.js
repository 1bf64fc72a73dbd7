// Pairs this browser with the service whose link was opened.

const COMMAND = "Get a new link: browse-together extension";
const link = location.hash.slice(1);
history.replaceState(null, "", location.pathname); // the code is for nobody else

function say(text, more = "") {
  document.getElementById("said").textContent = text;
  document.getElementById("more").textContent = more;
}

const [, url, code] = /^(wss?:\/\/[^/]+\/[\w/]+)#([\w-]+)$/.exec(link) ?? [];
const host = url && new URL(url);
const isHere = host && (host.protocol === "wss:" || ["127.0.0.1", "localhost", "[::1]"].includes(host.hostname));
if (!isHere) say("This is no link for pairing", COMMAND);
else {
  const { problem } = await chrome.runtime.sendMessage({ url, code });
  if (problem) say("Not paired", `${problem} ${COMMAND}`);
  else say("Paired", "The button of browse-together shows who has the tab that you look at. It hides behind the puzzle piece beside the address: press that, and then the pin. You can close this page.");
}
