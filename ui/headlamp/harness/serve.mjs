// Builds the frontend of main.jsx and serves it with the built plugin and an API server that has the example cluster in docs/examples/who:
//
//	npm run build && npm run harness      # and open the addresses that it prints
//
// Of the API server it has what the pages need. Where the environment variable STATUS is set, Loadline answers with that
// status, and where ANSWER is, with what that file holds.
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import yaml from 'js-yaml';
import { build } from 'vite';
import svgr from 'vite-plugin-svgr';

const here = dirname(fileURLToPath(import.meta.url));
const plugin = join(here, '..');
const built = join(here, 'dist');
const port = Number(process.env.PORT ?? 4466);

if (!existsSync(join(plugin, 'dist', 'main.js'))) {
  throw new Error('dist/main.js is missing: run npm run build');
}
if (!process.env.REUSE || !existsSync(join(built, 'index.html'))) {
  await build({
    configFile: false,
    root: here,
    base: '/',
    logLevel: 'error',
    plugins: [svgr(), react()],
    define: { 'process.env': '{}', global: 'globalThis', 'import.meta.env.UNDER_TEST': 'false' },
    build: { outDir: built, emptyOutDir: true, minify: false, reportCompressedSize: false },
  });
}

const cluster = yaml
  .loadAll(readFileSync(join(plugin, '../../docs/examples/who/cluster.yaml'), 'utf8'))
  .filter(Boolean);
const findings = readFileSync(process.env.ANSWER ?? join(plugin, 'src/testdata/who.json'));

createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://localhost');
  if (pathname.startsWith('/clusters/example/')) {
    const [, node] = /^spec\.nodeName=(.*)$/.exec(searchParams.get('fieldSelector') ?? '') ?? [];
    answer(request.method, pathname.slice('/clusters/example'.length), node, response);
    return;
  }
  const file =
    pathname === '/plugin/main.js' ? join(plugin, 'dist/main.js') : join(built, pathname);
  const found = extname(pathname) !== '' && file.startsWith(plugin) && existsSync(file);
  response.setHeader(
    'Content-Type',
    types[found ? extname(file) : '.html'] ?? 'application/octet-stream'
  );
  createReadStream(found ? file : join(built, 'index.html')).pipe(response);
}).listen(port, 'localhost', () => {
  for (const page of [
    'loadline',
    'pods/shop/cart-7c9f4-x2k8p',
    'nodes/node-1',
    'deployments/web/api',
  ]) {
    console.log(`http://localhost:${port}/c/example/${page}?theme=dark`);
  }
});

const types = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
};

/** answer answers as the API server does. */
function answer(method, path, node, response) {
  const send = (status, body) => {
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(Buffer.isBuffer(body) ? body : JSON.stringify(body));
  };
  if (path.endsWith('/proxy/api/v1/findings')) {
    const status = Number(process.env.STATUS ?? 200);
    send(
      status,
      status === 200 ? findings : { message: `this is what status ${status} looks like` }
    );
  } else if (path.endsWith('/token')) {
    send(201, { spec: { expirationSeconds: 600 }, status: { token: 'a-token' } });
  } else if (method === 'POST') {
    send(201, { status: { allowed: true } }); // a review of access
  } else {
    sendObject(path, node, send);
  }
}

const kinds = { pods: 'Pod', nodes: 'Node', deployments: 'Deployment' };

/** sendObject sends an object, or a list of them, on a node if one is named. */
function sendObject(path, node, send) {
  const [, namespace, plural, name] =
    /^\/apis?\/(?:apps\/)?v1(?:\/namespaces\/([^/]+))?\/([a-z]+)(?:\/([^/]+))?$/.exec(path) ?? [];
  const kind = kinds[plural];
  const is = o =>
    o.kind === kind &&
    (!namespace || o.metadata.namespace === namespace) &&
    (!node || o.spec.nodeName === node);
  if (!kind) {
    send(200, { kind: 'List', metadata: {}, items: [] });
  } else if (!name) {
    send(200, { kind: `${kind}List`, metadata: {}, items: cluster.filter(is).map(whole) });
  } else {
    const found = cluster.find(o => is(o) && o.metadata.name === name) ?? {
      kind,
      metadata: { namespace, name },
    };
    send(200, whole(found));
  }
}

/** whole returns an object with what Headlamp's pages take for granted. */
function whole(object) {
  const creationTimestamp = '2026-01-01T00:00:00Z';
  const containers = (object.spec?.containers ?? []).map(c => ({
    ...c,
    resources: JSON.parse(JSON.stringify(c.resources ?? {}), (_, v) =>
      typeof v === 'number' ? String(v) : v
    ),
  }));
  return {
    ...object,
    metadata: { creationTimestamp, uid: `uid-of-${object.metadata.name}`, ...object.metadata },
    spec: {
      selector: { matchLabels: {} },
      template: { spec: { containers: [] } },
      ...object.spec,
      containers,
    },
    status: {
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: creationTimestamp }],
      containerStatuses: containers.map(c => ({
        name: c.name,
        ready: true,
        restartCount: 0,
        state: { running: {} },
      })),
      addresses: [],
      nodeInfo: {
        operatingSystem: 'linux',
        osImage: 'Linux',
        kernelVersion: '6.12',
        kubeletVersion: 'v1.36.0',
      },
      capacity: object.status?.allocatable ?? {},
      ...object.status,
    },
  };
}
