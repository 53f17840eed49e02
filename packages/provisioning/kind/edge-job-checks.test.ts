import assert from 'node:assert/strict'
import { test } from 'node:test'
import { optionsText } from '../ensure/role-options.ts'
import { edgeJobCauses, edgeJobChangeCauses } from './edge-job-checks.ts'
import type { EdgeJob, EdgeJobSpec } from './edge-job.ts'

function fieldsOf(spec: unknown, name = 'job'): string[] {
  // Bad input is what the checks are for.
  const job = { apiVersion: '', kind: 'EdgeJob', metadata: { name }, spec } as EdgeJob
  return edgeJobCauses(job).map(({ field }) => field ?? '')
}

const clusters = { names: ['branch-7'] }
const upgrade = { version: '0.2.0' }

const accepted: readonly Partial<EdgeJobSpec>[] = [
  { upgrade },
  { upgrade: { version: '0.2.0-rc.1+build-0a1b2c3d4e5f' } },
  { upgrade: { ...upgrade, images: ['busybox', 'registry.example:5000/shop/till:1.4'] } },
  { pullImages: { images: [`registry.example/a__b@sha256:${'a'.repeat(64)}`] } },
  { configure: { site: {} } },
  { configure: { site: { runtimeConfig: ['resource.k8s.io/v1beta1=true'], metricsAPI: true } } },
  { configure: { node: { logLevel: 'debug', reservedAddresses: ['192.0.2.1'] } } },
  { upgrade, machines: { role: 'Node', addresses: ['10.0.0.11', 'till-3.example'] } },
  { upgrade, machines: { labelSelector: { matchLabels: { tier: 'front' } } } },
  { upgrade, failureTolerance: '10%', machinesAtOnce: 3, clustersAtOnce: 7, timeoutSeconds: 60 },
  { upgrade, failureTolerance: 0 },
]
for (const spec of accepted) {
  test(`a job is accepted: ${JSON.stringify(spec)}`, () => {
    assert.deepEqual(fieldsOf({ clusters, ...spec }), [])
  })
}

const refused: readonly [field: string, spec: unknown][] = [
  ['spec', {}],
  ['spec', { upgrade, configure: { node: {} } }],
  ['spec.configure', { configure: {} }],
  ['spec.pullImages.images', { pullImages: {} }],
  ['spec.pullImages.images', { pullImages: { images: Array.from({ length: 101 }, () => 'a') } }],
  ['spec.upgrade.secretRef.name', { upgrade: { ...upgrade, secretRef: { name: '../x' } } }],
  ['spec.upgrade.secretRef.name', { upgrade: { ...upgrade, secretRef: {} } }],
  ['spec.clusters', { upgrade, clusters: {} }],
  ['spec.clusters', { upgrade, clusters: { ...clusters, labelSelector: {} } }],
  ['spec.clusters.names', { upgrade, clusters: { names: [] } }],
  ['spec.clusters.names[0]', { upgrade, clusters: { names: ['a/b'] } }],
  ['spec.machines.role', { upgrade, machines: { role: 'Both' } }],
  ['spec.machines.addresses[0]', { upgrade, machines: { addresses: ['10.0.0.1;id'] } }],
  [
    'spec.machines.labelSelector',
    { upgrade, machines: { labelSelector: { matchExpressions: [{ key: 'a', operator: 'Is' }] } } },
  ],
  ['spec.machinesAtOnce', { upgrade, machinesAtOnce: 0 }],
  ['spec.clustersAtOnce', { upgrade, clustersAtOnce: 101 }],
  ['spec.timeoutSeconds', { upgrade, timeoutSeconds: 3_601 }],
  ['spec.retry.attempts', { upgrade, retry: { attempts: 0 } }],
  ['spec.failureTolerance', { upgrade, failureTolerance: '101%' }],
  ['spec.failureTolerance', { upgrade, failureTolerance: -1 }],
  ['spec.failureTolerance', { upgrade, failureTolerance: '3' }],
]
for (const [field, spec] of refused) {
  test(`a job is refused at ${field}: ${JSON.stringify(spec).slice(0, 90)}`, () => {
    assert.deepEqual(fieldsOf({ clusters, ...Object(spec) }), [field])
  })
}

/** Texts that ran as root on every node of KubeEdge, or would in a unit of systemd. */
const hostile = [
  '1;touch /x',
  '0.2.0;touch /x',
  '$(touch /x)',
  '`touch /x`',
  '0.2.0\ntouch /x',
  '0.2.0 --data-dir /x',
  '../../../bin/sh',
  '/etc/passwd',
  '-rf',
  '--help',
  'a|b',
  'a&b',
  'a>b',
  "a'b",
  'a"b',
  'a\\b',
  'a%nb',
  '$SKERRY_ARGS',
  '${PATH}',
  'a\0b',
  'a\rb',
  'ü',
  '',
  '~',
  '*',
  `0.2.0-${'a'.repeat(5_000)}`,
]
for (const text of hostile) {
  test(`no field of a job takes ${JSON.stringify(text).slice(0, 40)}`, () => {
    assert.deepEqual(fieldsOf({ clusters, upgrade: { version: text } }), ['spec.upgrade.version'])
    const images = fieldsOf({ clusters, pullImages: { images: [text] } })
    assert.deepEqual(images, ['spec.pullImages.images[0]'])
    for (const list of ['featureGates', 'runtimeConfig']) {
      const found = fieldsOf({ clusters, configure: { site: { [list]: [`${text}=true`] } } })
      assert.deepEqual(found, [`spec.configure.site.${list}[0]`])
    }
    const level = fieldsOf({ clusters, configure: { node: { logLevel: text } } })
    assert.deepEqual(level, ['spec.configure.node.logLevel'])
    const reserved = fieldsOf({ clusters, configure: { node: { reservedAddresses: [text] } } })
    assert.deepEqual(reserved, ['spec.configure.node.reservedAddresses[0]'])
  })
}

test('an upgrade names a version or a package, whose digest and key are checked', () => {
  const publicKey = `-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA${'A'.repeat(43)}=\n-----END PUBLIC KEY-----\n`
  const offline = { digest: `sha256:${'0a'.repeat(32)}`, publicKey }
  assert.deepEqual(fieldsOf({ clusters, upgrade: { package: offline } }), [])
  const both = { version: '0.2.0', package: offline }
  for (const odd of [{}, both]) {
    assert.deepEqual(fieldsOf({ clusters, upgrade: odd }), ['spec.upgrade'])
  }
  for (const text of hostile) {
    const digest = fieldsOf({ clusters, upgrade: { package: { ...offline, digest: text } } })
    assert.deepEqual(digest, ['spec.upgrade.package.digest'])
    const key = fieldsOf({ clusters, upgrade: { package: { ...offline, publicKey: text } } })
    assert.deepEqual(key, ['spec.upgrade.package.publicKey'])
  }
})

test('options that no check has seen still reach neither a shell nor a unit', () => {
  for (const text of hostile.filter((each) => !/^[\w.,:/@=+-]+$/.test(each))) {
    const options = { node: { reservedAddresses: [text] } }
    assert.throws(() => optionsText(options, 'node'), RangeError, JSON.stringify(text))
  }
})

test('a long name that almost fits a pattern is refused in no time', () => {
  const almost = `${'a-'.repeat(250)}!`
  assert.equal(fieldsOf({ clusters, pullImages: { images: [almost] } }).length, 1)
})

test('names of jobs leave room for the names of clusters', () => {
  assert.deepEqual(fieldsOf({ clusters, upgrade }, 'a'.repeat(49)), ['metadata.name'])
  assert.deepEqual(fieldsOf({ clusters, upgrade }, 'a.b'), ['metadata.name'])
})

test('a job keeps its purpose, and only its amounts and its pause may change', () => {
  const old: EdgeJobSpec = { clusters, upgrade }
  const change = (next: Partial<EdgeJobSpec>): (string | undefined)[] =>
    edgeJobChangeCauses({ ...old, ...next }, old).map(({ field }) => field)
  assert.deepEqual(change({ paused: true, machinesAtOnce: 4, failureTolerance: 2 }), [])
  assert.deepEqual(change({ upgrade: { version: '0.3.0' } }), ['spec.upgrade'])
  assert.deepEqual(change({ requireConfirmation: true }), ['spec.requireConfirmation'])
})
