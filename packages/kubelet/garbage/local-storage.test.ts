import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Container, Pod, Volume } from '@skerry/api'
import { diskVolumesOf, hasStorageLimits, storageExcess } from './local-storage.ts'

const container = (name: string, limit?: string, restartPolicy?: 'Always'): Container => ({
  name,
  ...(limit === undefined ? {} : { resources: { limits: { 'ephemeral-storage': limit } } }),
  ...(restartPolicy ? { restartPolicy } : {}),
})

interface Parts {
  containers?: Container[]
  initContainers?: Container[]
  volumes?: Volume[]
}

const podOf = ({ containers = [container('a')], ...rest }: Parts): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec: { containers, ...rest },
})

const cache: Volume = { name: 'cache', emptyDir: { sizeLimit: '1Ki' } }

const cases: readonly [
  what: string,
  pod: Pod,
  use: { volumes?: Record<string, number>; containers?: Record<string, number> },
  message: string | undefined,
][] = [
  [
    'a volume at its limit stays',
    podOf({ volumes: [cache] }),
    { volumes: { cache: 1024 } },
    undefined,
  ],
  [
    'a volume above its limit',
    podOf({ volumes: [cache] }),
    { volumes: { cache: 1025 } },
    'Usage of EmptyDir volume "cache" exceeds the limit "1Ki". ',
  ],
  [
    'a limit of 0 is none',
    podOf({ volumes: [{ name: 'cache', emptyDir: { sizeLimit: '0' } }] }),
    { volumes: { cache: 9 } },
    undefined,
  ],
  [
    'volumes count for the limit of the pod',
    podOf({ containers: [container('a', '1k')], volumes: [{ name: 'v', emptyDir: {} }] }),
    { volumes: { v: 600 }, containers: { a: 500 } },
    'Pod ephemeral local storage usage exceeds the total limit of containers 1k. ',
  ],
  [
    'one container above its own limit, within that of the pod',
    podOf({ containers: [container('a', '1k'), container('b', '2k')] }),
    { containers: { a: 1001, b: 1 } },
    'Container a exceeded its local ephemeral storage limit "1k". ',
  ],
  [
    'an init container with a larger limit lends it to the pod',
    podOf({ containers: [container('a', '1k')], initContainers: [container('i', '5k')] }),
    { containers: { a: 900, i: 4000 } },
    undefined,
  ],
  [
    'sidecars count on top',
    podOf({ containers: [container('a', '1k')], initContainers: [container('s', '1k', 'Always')] }),
    { containers: { a: 1000, s: 1000 } },
    undefined,
  ],
  ['no limits', podOf({}), { containers: { a: 1e12 } }, undefined],
]
for (const [what, pod, { volumes = {}, containers = {} }, message] of cases) {
  test(`storage of a pod: ${what}`, () => {
    const use = {
      volumes: new Map(Object.entries(volumes)),
      containers: new Map(Object.entries(containers)),
    }
    assert.equal(storageExcess(pod, use), message)
  })
}

test('only pods with limits are measured, and only volumes on the disk', () => {
  const memory: Volume = { name: 'm', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } }
  assert.equal(hasStorageLimits(podOf({ volumes: [memory, { name: 'v', emptyDir: {} }] })), false)
  assert.equal(hasStorageLimits(podOf({ volumes: [cache] })), true)
  assert.equal(hasStorageLimits(podOf({ initContainers: [container('i', '1k')] })), true)
  assert.deepEqual(diskVolumesOf(podOf({ volumes: [memory, cache] })), ['cache'])
})
