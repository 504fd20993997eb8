// A server made with the official SDK (v2), of the stateless era alone, over stdio or HTTP.
//   node server.mjs DIRECTORY stdio|http|sse
// DIRECTORY is where the SDK is installed. Over HTTP it prints its port, wants the token in TOKEN, and ends with
// its standard input.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [directory, transport] = process.argv.slice(2);
const require = createRequire(directory + '/x.js');
const load = async (name) => import(pathToFileURL(require.resolve(name)).href);
const { McpServer, createMcpHandler, fromJsonSchema } = await load('@modelcontextprotocol/server');

const numbers = { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'integer' } }, required: ['a', 'b'] };
const sum = { type: 'object', properties: { sum: { type: 'integer' } }, required: ['sum'] };
const region = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
let isGrown = false;
let changed = () => {};

function make() {
  const server = new McpServer({ name: 'modern', version: '1.0.0' },
    { capabilities: { tools: { listChanged: true }, resources: {} } });
  const add = (name, config, run) => server.registerTool(name, config, run);
  add('add', { description: 'Add two numbers', inputSchema: fromJsonSchema(numbers), outputSchema: fromJsonSchema(sum) },
    async ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }], structuredContent: { sum: a + b } }));
  add('where', { description: 'Which region', inputSchema: fromJsonSchema(region) },
    async ({ region }) => ({ content: [{ type: 'text', text: `in ${region}` }] }));
  add('grow', { description: 'Have one tool more' }, async () => {
    isGrown = true;
    changed(server);
    return { content: [{ type: 'text', text: 'grown' }] };
  });
  if (isGrown) add('grown', { description: 'It was not there' }, async () => ({ content: [{ type: 'text', text: 'there' }] }));
  return server;
}

if (transport === 'stdio') {
  const { serveStdio } = await load('@modelcontextprotocol/server/stdio');
  changed = (server) => server.registerTool('grown', { description: 'It was not there' },
    async () => ({ content: [{ type: 'text', text: 'there' }] }));
  serveStdio(make, { legacy: 'reject' });
} else {
  const handler = createMcpHandler(make, { legacy: 'reject', responseMode: transport === 'sse' ? 'sse' : 'auto' });
  changed = () => handler.notify.toolsChanged();
  const http = createServer(async (req, res) => {
    const chunks = [];
    for await (const chunk of req) chunks.push(chunk);
    if (req.headers.authorization !== `Bearer ${process.env.TOKEN}`) return res.writeHead(401).end();
    const gone = new AbortController();
    res.on('close', () => gone.abort());
    const request = new Request(`http://127.0.0.1${req.url}`, { method: req.method, headers: req.headers,
      body: chunks.length ? Buffer.concat(chunks) : undefined, signal: gone.signal });
    const response = await handler.fetch(request);
    res.writeHead(response.status, Object.fromEntries(response.headers));
    try {
      for await (const piece of response.body ?? []) res.write(piece);
    } catch { /* the client left */ }
    res.end();
  });
  http.listen(0, '127.0.0.1', () => console.log(http.address().port));
  process.stdin.resume().on('end', () => process.exit(0));
}
