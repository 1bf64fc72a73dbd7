// Drives gateways as a TypeScript host does, by stdio and by HTTP, with the client of one revision of the protocol.
import assert from "node:assert/strict";
import { createServer } from "node:http";

const { revision, url, command, args, env } = JSON.parse(process.argv[2]);
const WITHIN_MS = 20_000;

// Makes clients of the first SDK, which open a session by `initialize`.
async function handshakes() {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const { ResourceUpdatedNotificationSchema } = await import("@modelcontextprotocol/sdk/types.js");
  return {
    StdioClientTransport,
    StreamableHTTPClientTransport,
    client: () => new Client({ name: "typescript", version: "1" }),
    call: (client, name, given, options) => client.callTool({ name, arguments: given }, undefined, options),
    async follow(client, uri, listener) {
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => listener(params.uri));
      await client.subscribeResource({ uri });
      return () => client.unsubscribeResource({ uri });
    },
  };
}

// Makes clients of the second SDK, whose requests stand each for itself.
async function discoveries() {
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  return {
    StdioClientTransport,
    StreamableHTTPClientTransport,
    client: () => new Client({ name: "typescript", version: "2" }, { versionNegotiation: { mode: { pin: revision } } }),
    call: (client, name, given, options) => client.callTool({ name, arguments: given }, options),
    async follow(client, uri, listener) {
      client.setNotificationHandler("notifications/resources/updated", ({ params }) => listener(params.uri));
      const subscription = await client.listen({ resourceSubscriptions: [uri] });
      return () => subscription.close();
    },
  };
}

// Serves a page with a button, and one that never comes.
async function site() {
  const waiting = [];
  const server = createServer((request, response) => {
    if (request.url === "/never") {
      waiting.shift()?.({ left: new Promise((left) => request.socket.on("close", left)) });
      return;
    }
    response.setHeader("content-type", "text/html");
    response.end(`<title>Lamp</title><button onclick="document.title = 'On'">Switch on</button>`);
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    asked: () => new Promise((asked) => waiting.push(asked)),
    close: () => server.closeAllConnections() ?? server.close(),
  };
}

const text = (result) => result.content.map((block) => block.text ?? "").join("\n");

function within(promise, what) {
  const late = new Promise((_, fail) => setTimeout(fail, WITHIN_MS, new Error(`${what}: not within ${WITHIN_MS} ms`)).unref());
  return Promise.race([promise, late]);
}

async function done(sdk, client, name, given, options) {
  const result = await sdk.call(client, name, given, options);
  assert.ok(!result.isError, `${name}: ${text(result)}`);
  return result;
}

// Reads every list, and what stands in them.
async function lists(client) {
  assert.equal(client.getServerVersion().name, "browse-together");
  assert.ok(client.getInstructions().length > 100);
  const { tools } = await client.listTools();
  for (const tool of tools) assert.ok(tool.description && tool.inputSchema.type === "object", tool.name);
  assert.ok(["goto", "click", "snapshot", "screenshot"].every((name) => tools.some((tool) => tool.name === name)));
  assert.ok((await client.listResources()).resources.some(({ uri }) => uri === "pages://"));
  assert.ok((await client.listResourceTemplates()).resourceTemplates.length >= 4);
  assert.ok((await client.listPrompts()).prompts.every(({ description }) => description));
  const prompt = await client.getPrompt({ name: "capture_screenshots", arguments: { url: "https://example.com" } });
  assert.match(prompt.messages[0].content.text, /https:\/\/example\.com/);
  const ref = { type: "ref/prompt", name: "capture_screenshots" };
  assert.deepEqual((await client.complete({ ref, argument: { name: "format", value: "j" } })).completion.values, ["jpeg"]);
}

// Works on a page, follows its changes, and reads it as a resource.
async function work(sdk, client, page, home) {
  assert.match(text(await done(sdk, client, "goto", { url: home, pageId: page })), /navigated to/);
  assert.match(text(await done(sdk, client, "snapshot", { pageId: page })), /Switch on/);
  let tell;
  const changed = new Promise((heard) => (tell = heard));
  const unfollow = await sdk.follow(client, `page://${page}`, tell);
  await done(sdk, client, "click", { pageId: page, selector: "button" });
  assert.equal(await within(changed, "news of the click"), `page://${page}`);
  await unfollow();
  const [state] = (await client.readResource({ uri: `page://${page}` })).contents;
  assert.equal(JSON.parse(state.text).title, "On");
  const picture = (await done(sdk, client, "screenshot", { pageId: page })).content.find(({ type }) => type === "image");
  assert.equal(Buffer.from(picture.data, "base64").subarray(1, 4).toString(), "PNG");
}

// Asks for what is not there, and for what cannot be, and goes on.
async function mistakes(sdk, client) {
  await assert.rejects(sdk.call(client, "clik", {}), /Tool not found: clik/);
  await assert.rejects(client.readResource({ uri: "page://nobody" }), /not found/);
  const wrong = await sdk.call(client, "click", { selector: 5 });
  assert.ok(wrong.isError && /VALIDATION_ERROR/.test(text(wrong)), text(wrong));
}

// Gives a call up: the browser stops asking the site, and a call that waited behind it, and told so, is done.
async function giveUp(sdk, client, page, home) {
  const stop = new AbortController();
  const asked = home.asked();
  const call = sdk.call(client, "goto", { url: `${home.url}/never`, pageId: page }, { signal: stop.signal });
  const ended = assert.rejects(call);
  const { left } = await within(asked, "the request for the page");
  let queued;
  const progress = new Promise((report) => {
    queued = done(sdk, client, "evaluate_script", { pageId: page, script: "() => 6 * 7" }, { onprogress: report });
  });
  assert.match((await within(progress, "the progress of the call behind")).message, /\w/);
  stop.abort("enough");
  await ended;
  await within(left, "the end of the request for the page");
  assert.match(text(await queued), /42/);
}

// Connects a second client, which may not act on the page of the first where it is a client of its own.
async function others(sdk, transport, page) {
  const client = sdk.client();
  await client.connect(transport);
  const refused = await sdk.call(client, "click", { pageId: page, selector: "button" });
  assert.ok(refused.isError && /PAGE_OWNED/.test(text(refused)), text(refused));
  await client.close();
}

async function drive(sdk, name, transport, home) {
  const [client, first, page] = [sdk.client(), transport(), `by-${name}-${revision}`];
  await client.connect(first);
  await lists(client);
  await work(sdk, client, page, home.url);
  await mistakes(sdk, client);
  await giveUp(sdk, client, page, home);
  if (name === "stdio" || first.sessionId) await others(sdk, transport(), page);
  await done(sdk, client, "close_page", { pageId: page });
  if (first.sessionId) {
    const { sessionId } = first;
    await first.terminateSession();
    assert.equal((await fetch(url, { headers: { "mcp-session-id": sessionId, accept: "text/event-stream" } })).status, 404);
  }
  await client.close();
}

const home = await site();
try {
  const sdk = await (revision === "2026-07-28" ? discoveries() : handshakes());
  await drive(sdk, "stdio", () => new sdk.StdioClientTransport({ command, args, env, stderr: "inherit" }), home);
  await drive(sdk, "http", () => new sdk.StreamableHTTPClientTransport(new URL(url)), home);
} finally {
  home.close();
}
process.exit(0);
