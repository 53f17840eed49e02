import type { AskedTarget } from '../differential/authorization/recording.ts'
import { createRandom, type Random } from '../differential/seeded-choices.ts'

const usualMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const oddMethods = [
  'CONNECT',
  'TRACE',
  'PROPFIND',
  'get',
  'Post',
  'delete',
  'LIST',
  'WATCH',
  'M'.repeat(300),
]
const methods = [...usualMethods, ...oddMethods]

const subresources = [
  'status',
  'scale',
  'log',
  'exec',
  'attach',
  'portforward',
  'proxy',
  'proxy/a/b/',
  'binding',
  'eviction',
  'ephemeralcontainers',
  'resize',
  'token',
  'finalize',
  'approval',
  'none',
  'log/more',
]

const paths = [
  '',
  '/',
  '/api',
  '/api/',
  '/api/v1',
  '/api/v1/',
  '/apis',
  '/apis/apps',
  '/apis/apps/v1',
  '/apis/none.example.com/v1',
  '/apis/none.example.com/v1/things',
  '/apis/none.example.com/v1/namespaces/a/things/b/status',
  '/apis//v1/secrets',
  '/apis/apps//deployments',
  '/api//pods',
  '/api/v9/pods',
  '/version',
  '/version/',
  '/healthz',
  '/livez/ping',
  '/readyz/',
  '/metrics',
  '/openapi/v2',
  '/openapi/v3/apis/apps/v1',
  '/.well-known/openid-configuration',
  '/openid/v1/jwks',
  '/logs',
  '/debug/pprof/',
  '/API/v1/pods',
  '/apix/v1/pods',
  '/api/v1/pods',
  '/api/v1/pods/',
  '/api/v1/pods//',
  '/api/v1//pods',
  '/api/v1/pods/b',
  '//api/v1/pods',
  '///api///v1///pods',
  '/api/v1/namespaces',
  '/api/v1/namespaces/',
  '/api/v1/namespaces/a',
  '/api/v1/namespaces/a/',
  '/api/v1/namespaces/a/status',
  '/api/v1/namespaces/a/finalize',
  '/api/v1/namespaces/a/finalize/more',
  '/api/v1/namespaces/a/namespaces',
  '/api/v1/namespaces/a/namespaces/b',
  '/api/v1/namespaces/namespaces/pods',
  '/api/v1/namespaces//pods',
  '/api/v1/namespaces/a//b',
  '/api/v1/namespaces/a/pods',
  '/api/v1/namespaces/a/pods/',
  '/api/v1/namespaces/a/pods/b',
  '/api/v1/namespaces/a/pods/b/',
  '/api/v1/namespaces/a/pods//log',
  '/api/v1/namespaces/a/pods/b//log',
  ...subresources.map((name) => `/api/v1/namespaces/a/pods/b/${name}`),
  '/api/v1/namespaces/a/services/https:b:443/proxy/x%2Fy?z=1',
  '/api/v1/namespaces/a/serviceaccounts/b/token',
  '/api/v1/namespaces/a/bindings',
  '/api/v1/namespaces/a/replicationcontrollers/b/scale',
  '/api/v1/nodes',
  '/api/v1/nodes/n',
  '/api/v1/nodes/n/proxy/metrics',
  '/api/v1/nodes/n/status',
  '/api/v1/persistentvolumes/v/status',
  '/api/v1/componentstatuses',
  '/apis/apps/v1/deployments',
  '/apis/apps/v1/namespaces/a/deployments',
  '/apis/apps/v1/namespaces/a/deployments/b',
  '/apis/apps/v1/namespaces/a/deployments/b/scale',
  '/apis/apps/v1/namespaces/a/deployments/b/status',
  '/apis/apps/v1/namespaces/a',
  '/apis/apps/v1/namespaces/a/status',
  '/apis/apps/v9/namespaces/a/deployments',
  '/apis/rbac.authorization.k8s.io/v1/clusterroles/c',
  '/apis/rbac.authorization.k8s.io/v1/namespaces/a/roles',
  '/apis/certificates.k8s.io/v1/certificatesigningrequests/c/approval',
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/c.d/status',
  '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
  '/apis/authorization.k8s.io/v1/namespaces/a/localsubjectaccessreviews',
  '/apis/metrics.k8s.io/v1beta1/namespaces/a/pods',
  '/apis/coordination.k8s.io/v1/namespaces/a/leases/b',
  '/api/v1/watch',
  '/api/v1/watch/',
  '/api/v1/proxy',
  '/apis/apps/v1/watch',
  '/api/v1/watch/pods',
  '/api/v1/watch/namespaces',
  '/api/v1/watch/namespaces/a',
  '/api/v1/watch/namespaces/a/pods',
  '/api/v1/watch/namespaces/a/pods/b',
  '/api/v1/watch/namespaces/a/pods/b/log',
  '/api/v1/watch/namespaces/a/pods/b/proxy',
  '/api/v1/watch/watch',
  '/api/v1/watch/watch/pods',
  '/api/v1/watch/proxy/pods/b',
  '/api/v1/watch//pods',
  '/apis/apps/v1/watch/namespaces/a/deployments',
  '/api/v1/proxy/pods/b',
  '/api/v1/proxy/namespaces/a/pods/b/x/y',
  '/api/v1/proxy/namespaces/a',
  '/api/v1/namespaces/watch/pods',
  '/api/v1/namespaces/a/watch/pods',
  '/api/v1/namespaces/a/pods/watch',
  '/api/watch/pods',
  '/apis/watch/v1/pods',
  '/api/v1/namespaces/a%2Fpods',
  '/api/v1/namespaces/a%2fpods%2Fb%2flog',
  '/api%2Fv1%2Fpods',
  '/%61pi/v1/pods',
  '/api/v1/p%6Fds/b',
  '/api/v1/pods/%2E%2E/secrets',
  '/api/v1/namespaces/a/../../secrets',
  '/api/v1/./pods',
  '/api/v1/pods/..',
  '/api/v1/pods/b%00c',
  '/api/v1/pods/%ff%fe',
  '/api/v1/pods/%C3%A9',
  '/api/v1/pods/a+b',
  '/api/v1/pods/a%20b',
  '/api/v1/pods/%zz',
  '/api/v1/pods/%',
  '/api/v1/pods/%2',
  '/api/v1/pods;a=b',
  '/api/v1/pods/b#c',
  `/api/v1/namespaces/a/pods/b/${'deep/'.repeat(60)}`,
  `/api/v1/pods/${'x'.repeat(2_000)}`,
]

const name = 'metadata.name'
const fieldSelectors = [
  '',
  '=',
  ',',
  name,
  `${name}=mine`,
  `${name}==mine`,
  `${name}!=mine`,
  `${name}=`,
  `${name}=mine,${name}=yours`,
  `${name}=mine,${name}!=mine`,
  `${name}=mine,metadata.namespace=a`,
  `spec.nodeName=n,${name}=mine`,
  `spec.nodeName=n`,
  `status.phase!=Failed,spec.nodeName=n`,
  `${name}=a\\,b`,
  `${name}=a\\=b`,
  `${name}=a\\b`,
  `${name}=a=b`,
  `${name}=a/b`,
  `${name}=a%b`,
  `${name}=.`,
  `${name}=..`,
  `${name} = mine`,
  ` ${name}=mine`,
  `metadata.Name=mine`,
  `,${name}=mine,`,
  `${name}=mine;x`,
  `${name}=é`,
  `x${name}=mine`,
]
const labelSelectors = [
  'a=b',
  'a==b,c!=d',
  'a in (b, c),d notin (e)',
  'a,!b',
  'a>1,b<2',
  'a in (c,b)',
  'a b',
  '!',
  'a=b,a=b',
  'x/y=z',
  '',
]
const flags = [
  '',
  '0',
  '1',
  'f',
  'F',
  't',
  'false',
  'False',
  'FALSE',
  'no',
  'null',
  '%20false',
  '00',
  '%zz',
  '%66alse',
  '+',
]

const encode = encodeURIComponent
const queries = [
  '?',
  '&',
  'watch',
  ...flags.map((flag) => `watch=${flag}`),
  'watch=0&watch=1',
  'watch=1&watch=0',
  'Watch=1',
  '%77atch=1',
  'watch=1;x=2',
  'x;watch=1',
  'watch=1&resourceVersion=5&allowWatchBookmarks=true',
  ...fieldSelectors.map((text) => `fieldSelector=${encode(text)}`),
  ...fieldSelectors.slice(3, 14).map((text) => `watch=1&fieldSelector=${encode(text)}`),
  `fieldSelector=${name}=mine`,
  `fieldSelector=${name}%3Dmine&fieldSelector=${name}%3Dyours`,
  `fieldSelector=&fieldSelector=${name}%3Dyours`,
  `fieldselector=${name}%3Dmine`,
  `field%53elector=${name}%3Dmine`,
  `fieldSelector=${name}%3Dmine%zz`,
  `fieldSelector=${name}%3Dmine;a`,
  ...labelSelectors.map((text) => `labelSelector=${encode(text)}`),
  ...labelSelectors.map((text) => `labelSelector=${encode(text)}&fieldSelector=${name}%3Dmine`),
  ...[
    'x',
    '',
    '5',
    '+5',
    '-1',
    '5.0',
    '1e3',
    ' 5',
    '9223372036854775807',
    '9223372036854775808',
  ].flatMap((number) => [
    `limit=${encode(number)}&fieldSelector=${name}%3Dmine`,
    `watch=1&timeoutSeconds=${encode(number)}&fieldSelector=${name}%3Dmine`,
  ]),
  `continue=x&resourceVersion=abc&fieldSelector=${name}%3Dmine`,
  `resourceVersionMatch=Odd&sendInitialEvents=odd&fieldSelector=${name}%3Dmine`,
  `dryRun=All&fieldSelector=${name}%3Dmine`,
  `shardSelector=x&fieldSelector=${name}%3Dmine`,
  `unknown=1&=2&fieldSelector=${name}%3Dmine`,
  'dryRun=All&fieldManager=me&force=true',
  'pretty=true&timeout=5s',
]

/** The paths on which every query is tried, by every usual method. */
const queriedPaths = [
  '/api/v1/pods',
  '/api/v1/namespaces/a/pods',
  '/api/v1/namespaces/a/pods/b',
  '/api/v1/namespaces',
  '/api/v1/nodes/n',
  '/api/v1/watch/namespaces/a/pods',
  '/apis/apps/v1/namespaces/a/deployments/b/scale',
  '/version',
]

/** The same requests for a seed: every method on every path, every query on some, and random ones. */
export function generateTargets({ seed, count }: { seed: number; count: number }): AskedTarget[] {
  const random = createRandom(seed)
  const all = [
    ...paths.flatMap((path) => methods.map((method) => ({ method, target: path }))),
    ...queriedPaths.flatMap((path) =>
      queries.flatMap((query) =>
        usualMethods.map((method) => ({ method, target: `${path}?${query}` })),
      ),
    ),
    ...Array.from({ length: count }, () => randomTarget(random)),
  ]
  const seen = new Set<string>()
  return all.filter(({ method, target }) => {
    const key = `${method} ${target}`
    // Leaves out targets that Go answers before it authorizes, and that no client sends.
    if (target === '' || seen.has(key)) return false
    seen.add(key)
    return true
  })
}

const steps = [
  'api',
  'apis',
  'v1',
  'apps',
  'watch',
  'proxy',
  'namespaces',
  'a',
  'pods',
  'b',
  'log',
  'status',
  'finalize',
  '',
  '.',
  '..',
]

function randomTarget(random: Random): AskedTarget {
  const method = random.pick(random.below(4) === 0 ? methods : usualMethods)
  let path = random.pick(paths).split('?')[0] ?? '/'
  if (random.below(2) === 0) {
    const head = random.pick(['/api/v1', '/apis/apps/v1', '/api', ''])
    path = `${head}/${Array.from({ length: random.below(7) }, () => random.pick(steps)).join('/')}`
  }
  for (let at = random.below(3); at > 0; at -= 1) path = mutated(path, random)
  const parts = Array.from({ length: random.below(4) }, () => random.pick(queries))
  return { method, target: parts.length === 0 ? path || '/' : `${path || '/'}?${parts.join('&')}` }
}

/** Percent-encodes one character, doubles it, or puts a slash before it. */
function mutated(path: string, random: Random): string {
  const at = 1 + random.below(Math.max(path.length, 1))
  const [before, char, after] = [path.slice(0, at), path.charAt(at), path.slice(at + 1)]
  if (char === '' || char === '%' || char.charCodeAt(0) > 127) return path
  const hex = char.charCodeAt(0).toString(16).padStart(2, '0')
  const written = random.pick([`%${hex}`, `%${hex.toUpperCase()}`, `${char}${char}`, `/${char}`])
  return `${before}${written}${after}`
}
