import assert from 'node:assert/strict'
import { test } from 'node:test'
import { optionCauses } from './edge-option-checks.ts'
import type { EdgeOptions } from './edge-options.ts'
import { versionCauses } from './offered-versions.ts'

const mirror = { host: 'docker.io', endpoints: ['https://mirror.example:5000'] }
const proxy = { httpProxy: 'http://proxy.example:3128' }

const accepted: readonly [string, EdgeOptions][] = [
  ['nothing', {}],
  ['a check', { mode: 'Check', machinesAtOnce: 50, version: '0.1.0' }],
  ['a proxy', { proxy: { ...proxy, httpsProxy: 'https://10.0.0.9/', credentials: { name: 'p' } } }],
  [
    'addresses without proxy',
    {
      proxy: {
        ...proxy,
        noProxy: ['10.0.0.0/8', '10.0.0.1', '.example.com', 'hub.example:7443', '::1', 'fd00::/8'],
      },
    },
  ],
  [
    'a mirror',
    { registries: [mirror, { host: '*', endpoints: ['http://10.0.0.9:5000/v2/cache'] }] },
  ],
  [
    'add-ons',
    {
      addons: [
        { configMap: 'a', key: 'b.yaml' },
        { configMap: 'a', key: 'c.yaml' },
      ],
    },
  ],
]
for (const [what, options] of accepted) {
  test(`${what} is accepted`, () => assert.deepEqual(optionCauses(options), []))
}

const refused: readonly [what: string, options: object, field: string, message: RegExp][] = [
  ['another mode', { mode: 'Try' }, 'spec.mode', /Try/],
  ['no machine at once', { machinesAtOnce: 0 }, 'spec.machinesAtOnce', /1 to 50/],
  ['too many at once', { machinesAtOnce: 51 }, 'spec.machinesAtOnce', /1 to 50/],
  ['half a machine', { machinesAtOnce: Number.NaN }, 'spec.machinesAtOnce', /1 to 50/],
  ['a version with a shell in it', { version: '1;reboot' }, 'spec.version', /such as 0\.1\.0/],
  ['an empty proxy', { proxy: {} }, 'spec.proxy', /must be set/],
  [
    'a proxy with a path',
    { proxy: { httpProxy: 'http://p/x' } },
    'spec.proxy.httpProxy',
    /must be/,
  ],
  ['SOCKS', { proxy: { httpsProxy: 'socks5://p:1080' } }, 'spec.proxy.httpsProxy', /must be/],
  [
    'a proxy with two lines',
    { proxy: { httpProxy: 'http://p\nA=b' } },
    'spec.proxy.httpProxy',
    /must/,
  ],
  [
    'a proxy with a quote',
    { proxy: { httpProxy: 'http://p";' } },
    'spec.proxy.httpProxy',
    /must be/,
  ],
  [
    'a port that is none',
    { proxy: { httpProxy: 'http://p:99999' } },
    'spec.proxy.httpProxy',
    /must/,
  ],
  [
    'a bypass with a space',
    { proxy: { ...proxy, noProxy: ['a b'] } },
    'spec.proxy.noProxy[0]',
    /must/,
  ],
  [
    'a bypass with a line',
    { proxy: { ...proxy, noProxy: ['a\nB=c'] } },
    'spec.proxy.noProxy[0]',
    /must/,
  ],
  [
    'a range that is none',
    { proxy: { ...proxy, noProxy: ['10.0.0.0/33'] } },
    'spec.proxy.noProxy[0]',
    /must/,
  ],
  ['no Secret', { proxy: { ...proxy, credentials: {} } }, 'spec.proxy.credentials.name', /./],
  [
    'a Secret elsewhere',
    { proxy: { ...proxy, credentials: { name: '../x' } } },
    'spec.proxy.credentials.name',
    /must consist/,
  ],
  [
    'no registry',
    { registries: [{ endpoints: mirror.endpoints }] },
    'spec.registries[0].host',
    /./,
  ],
  [
    'a registry with a path',
    { registries: [{ ...mirror, host: '../x' }] },
    'spec.registries[0].host',
    /must/,
  ],
  ['no endpoint', { registries: [{ host: 'a.example' }] }, 'spec.registries[0].endpoints', /./],
  [
    'an endpoint with a quote',
    { registries: [{ ...mirror, endpoints: ['https://m.example/"]\n'] }] },
    'spec.registries[0].endpoints[0]',
    /must be/,
  ],
  ['a registry twice', { registries: [mirror, mirror] }, 'spec.registries', /docker\.io/],
  [
    'many registries',
    { registries: Array.from({ length: 51 }, (_, at) => ({ ...mirror, host: `r${at}` })) },
    'spec.registries',
    /at most 50/,
  ],
  ['no ConfigMap', { addons: [{ key: 'a' }] }, 'spec.addons[0].configMap', /./],
  [
    'a key with a path',
    { addons: [{ configMap: 'a', key: '../b' }] },
    'spec.addons[0].key',
    /must/,
  ],
  [
    'an add-on twice',
    { addons: [1, 2].map(() => ({ configMap: 'a', key: 'b' })) },
    'spec.addons',
    /a\/b/,
  ],
  [
    'many add-ons',
    { addons: Array.from({ length: 21 }, (_, at) => ({ configMap: 'a', key: `${at}` })) },
    'spec.addons',
    /at most 20/,
  ],
]
for (const [what, options, field, message] of refused) {
  test(`${what} is refused at ${field}`, () => {
    // The cases hold values of wrong types, as a client may send them.
    const causes = optionCauses(options as EdgeOptions)
    const found = causes.filter((cause) => cause.field === field)
    assert.ok(
      found.some((cause) => message.test(cause.message ?? '')),
      JSON.stringify(causes),
    )
  })
}

test('a password in the URL of a proxy is refused, and not repeated', () => {
  const causes = optionCauses({ proxy: { httpProxy: 'http://eva:hunter2@proxy:3128' } })
  assert.match(causes[0]?.message ?? '', /spec\.proxy\.credentials/)
  assert.doesNotMatch(JSON.stringify(causes), /hunter2/)
  const endpoints = ['https://eva:hunter2@mirror.example']
  const mirrors = optionCauses({ registries: [{ host: 'docker.io', endpoints }] })
  assert.equal(mirrors.length, 1)
  assert.doesNotMatch(JSON.stringify(mirrors), /hunter2/)
})

test('a version that the hub has not is refused with those that it has', () => {
  assert.deepEqual(versionCauses({}, ['0.1.0']), [])
  assert.deepEqual(versionCauses({ version: '0.1.0' }, ['0.1.0']), [])
  const [cause] = versionCauses({ version: '9.9.9' }, ['0.1.0', '0.2.0'])
  assert.equal(cause?.field, 'spec.version')
  assert.match(cause?.message ?? '', /9\.9\.9.*0\.1\.0.*0\.2\.0/)
})
