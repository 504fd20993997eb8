// A client made with the official SDKs: talks to a server over stdio and prints what came of it, as JSON.
//   node client.mjs v1|v2 legacy|modern|auto DIRECTORY COMMAND ARG...
// DIRECTORY is where the SDKs are installed.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [sdk, era, directory, command, ...args] = process.argv.slice(2);
const require = createRequire(directory + '/x.js');
const load = async (name) => import(pathToFileURL(require.resolve(name)).href);

async function makeClient() {
  const capabilities = { elicitation: {} };
  const info = { name: 'test', version: '1' };
  if (sdk === 'v1') {
    const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js');
    const { ElicitRequestSchema } = await load('@modelcontextprotocol/sdk/types.js');
    const client = new Client(info, { capabilities });
    client.setRequestHandler(ElicitRequestSchema, answer);
    return [client, new StdioClientTransport({ command, args, stderr: 'inherit' })];
  }
  const { Client } = await load('@modelcontextprotocol/client');
  const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');
  const mode = era === 'modern' ? { pin: '2026-07-28' } : era;
  const client = new Client(info, { capabilities, versionNegotiation: { mode } });
  client.setRequestHandler('elicitation/create', answer);
  return [client, new StdioClientTransport({ command, args, stderr: 'inherit' })];
}

const asked = [];
async function answer(request) {
  asked.push(request.params.message);
  return { action: 'accept', content: { approve: true } };
}

const [client, transport] = await makeClient();
const failures = [];
client.onerror = (error) => failures.push(String(error));
await client.connect(transport);

// The second argument of callTool is a schema in v1, and the options in v2.
const call = (code, options) => {
  const params = { name: 'execute_code', arguments: { code } };
  return sdk === 'v1' ? client.callTool(params, undefined, options) : client.callTool(params, options);
};
const out = { failures, asked };
out.server = client.getServerVersion();
out.tools = (await client.listTools()).tools.map((tool) => tool.name);
out.value = (await call('6 * 7')).structuredContent.value;
out.error = await call('1/0').then((r) => [r.isError, r.content[0].text]);
const progress = [];
await call('import time\nfor i in range(3):\n print(i, flush=True)\n time.sleep(0.15)',
  { onprogress: (p) => progress.push(p) });
out.progress = progress;
const stop = new AbortController();
setTimeout(() => stop.abort('enough'), 300);
out.cancelled = await call('import time; time.sleep(60)', { signal: stop.signal }).then(() => false, () => true);
const made = await call('open("big.txt", "w").write("x" * 10000)');
const link = made.content.find((block) => block.type === 'resource_link');
out.read = (await client.readResource({ uri: link.uri })).contents[0].text.length;
out.templates = (await client.listResourceTemplates()).resourceTemplates.map((t) => t.uriTemplate);
out.unknown = await client.callTool({ name: 'nope', arguments: {} }).then((r) => r.isError === true, (e) => e.code);
out.missing = await client.readResource({ uri: 'glovebox://file/00/a' }).then(() => null, (e) => e.code);
await client.close();
console.log(JSON.stringify(out));
