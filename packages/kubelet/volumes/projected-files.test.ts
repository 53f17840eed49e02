import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConfigMap, Pod, PodSpec, Secret, Volume } from '@skerry/api'
import { configMapFiles, projectedFiles, secretFiles } from './projected-files.ts'
import type { VolumeContext } from './volume.ts'

const configMap: ConfigMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'settings' },
  data: { a: 'one' },
  binaryData: { raw: 'AAE=' },
}
const secret: Secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'keys' },
  data: { pass: 'aGk=' },
}

function contextOf(spec: Partial<PodSpec> = {}): VolumeContext {
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'shop', uid: 'u1', labels: { app: 'web' } },
    spec: { containers: [{ name: 'main' }], ...spec },
  }
  return {
    pod,
    directories: { dataDirectory: '/d', runDirectory: '/r', logDirectory: '/l' },
    sources: {
      configMap: (_, name) => (name === 'settings' ? configMap : undefined),
      secret: (_, name) => (name === 'keys' ? secret : undefined),
      persistentVolumeClaim: () => undefined,
      persistentVolume: () => undefined,
      token: async ({ audience }) => ({
        token: `for ${audience}`,
        issuedAtMs: 0,
        expiresAtMs: 1000,
      }),
    },
    csi: {
      setUp: () => Promise.reject(new Error('no CSI volume is here')),
      tearDown: async () => undefined,
    },
    podIps: [],
    hostIps: [],
    allocatable: { cpuMilli: 1000, memoryBytes: 1, ephemeralStorageBytes: 1 },
    nowMs: 0,
  }
}

const signal = new AbortController().signal
const inWords = (files: { path: string; content: Uint8Array; mode: number }[]): string =>
  files
    .map(
      ({ path, content, mode }) =>
        `${path}:${mode.toString(8)}:${Buffer.from(content).toString('latin1')}`,
    )
    .join(' ')

const configMapCases: [string, NonNullable<Volume['configMap']>, string | Error][] = [
  ['every key', { name: 'settings' }, 'a:644:one raw:644:\0\x01'],
  [
    'chosen keys with modes',
    {
      name: 'settings',
      defaultMode: 0o400,
      items: [
        { key: 'a', path: 'x/y' },
        { key: 'a', path: 'z', mode: 0o755 },
      ],
    },
    'x/y:400:one z:755:one',
  ],
  ['missing', { name: 'no' }, new Error('configmap "no" not found')],
  ['missing but optional', { name: 'no', optional: true }, ''],
  [
    'a missing key',
    { name: 'settings', items: [{ key: 'no', path: 'x' }] },
    new Error('configmap references non-existent config key: no'),
  ],
]

for (const [name, source, expected] of configMapCases) {
  test(`config map volume: ${name}`, () => {
    if (expected instanceof Error) {
      assert.throws(() => configMapFiles(source, contextOf()), { message: expected.message })
    } else assert.equal(inWords(configMapFiles(source, contextOf()).files), expected)
  })
}

test('secret volume: values are decoded', () => {
  const { files } = secretFiles({ secretName: 'keys', defaultMode: 0o400 }, contextOf())
  assert.equal(inWords(files), 'pass:400:hi')
})

test('projected volume: all sources in one directory, a token to be renewed in time', async () => {
  const source = {
    sources: [
      { serviceAccountToken: { path: 'token', audience: 'api' } },
      { configMap: { name: 'settings', items: [{ key: 'a', path: 'ca' }] } },
      { downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
    ],
  }
  const { files, refreshAtMs } = await projectedFiles(source, contextOf(), signal)
  assert.equal(inWords(files), 'token:644:for api ca:644:one labels:644:app="web"')
  assert.equal(refreshAtMs, 800)
})

test('a token belongs to the one user that all containers run as', async () => {
  const source = { sources: [{ serviceAccountToken: { path: 'token' } }] }
  const context = contextOf({ securityContext: { runAsUser: 1000 } })
  const { files } = await projectedFiles(source, context, signal)
  assert.equal(files[0]?.mode, 0o600)
  assert.equal(files[0]?.uid, 1000)
})
