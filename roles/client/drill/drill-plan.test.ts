import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@skerry/api'
import { planDrill, type DrillFacts } from './drill-plan.ts'

const nowMs = Date.UTC(2027, 0, 1)
const dayMs = 86_400_000
const forever = [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute', operator: 'Exists' }]

function podOf(name: string, spec: Partial<NonNullable<Pod['spec']>> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'shop', name },
    spec: { containers: [{ name: 'main', image: 'app:1' }], tolerations: forever, ...spec },
    status: { startTime: '2026-12-31T00:00:00Z' },
  }
}

const facts: DrillFacts = {
  pods: [],
  missingImages: new Set(['gone:1']),
  certificates: [{ name: 'node', endsMs: nowMs + 100 * dayMs }],
  logs: { freeBytes: 2 ** 30, bytesPerContainer: 50 * 2 ** 20 },
}

test('a drill names for each pod the reasons for which an absence breaks or hinders it', () => {
  const limited = forever.map((each) => ({ ...each, tolerationSeconds: 300 }))
  const held = { missing: [], tokenEndsMs: undefined }
  const table: [pod: Pod, held: object, result: string, reason: RegExp][] = [
    [podOf('calm'), {}, 'goes on', /^$/],
    [
      podOf('a', { containers: [{ name: 'm', image: 'gone:1' }] }),
      {},
      'breaks',
      /gone:1 is not on/,
    ],
    [
      podOf('b', { containers: [{ name: 'm', image: 'app:1', imagePullPolicy: 'Always' }] }),
      {},
      'breaks',
      /pulls its image at each start/,
    ],
    [podOf('c'), { missing: ['secrets/shop/key'] }, 'breaks', /secrets\/shop\/key is not on/],
    [
      podOf('d', { activeDeadlineSeconds: 172_800 }),
      {},
      'breaks',
      /end it at 2027-01-02T00:00:00Z/,
    ],
    [podOf('e'), { tokenEndsMs: nowMs + 3_600_000 }, 'in part', /ends at 2027-01-01T01:00:00Z/],
    [podOf('f', { tolerations: limited }), {}, 'in part', /gives it up after 300 s/],
    [podOf('g', { tolerations: [] }), {}, 'in part', /gives it up after 0 s/],
  ]
  for (const [pod, more, result, reason] of table) {
    const pods = [{ pod, ...held, ...more }]
    const [node, finding] = planDrill({ ...facts, pods }, nowMs, nowMs + 14 * dayMs)
    assert.equal(node?.result, 'goes on')
    assert.equal(finding?.result, result, pod.metadata.name ?? '')
    assert.match(finding?.reasons.join('; ') ?? '', reason)
  }
})

test('a drill names certificates of the node that end, and logs that fill its disk', () => {
  const pods = [{ pod: podOf('calm'), missing: [], tokenEndsMs: undefined }]
  const table: [facts: Partial<DrillFacts>, days: number, result: string, reason: RegExp][] = [
    [{}, 14, 'goes on', /^$/],
    [{}, 120, 'in part', /certificate node ends at 2027-04-11/],
    [{ missingImages: undefined }, 14, 'in part', /containerd does not answer/],
    [
      { logs: { freeBytes: 2 ** 20, bytesPerContainer: 50 * 2 ** 20 } },
      14,
      'breaks',
      /logs of 1 containers may take 50 MiB, and the disk has 1 MiB free/,
    ],
  ]
  for (const [more, days, result, reason] of table) {
    const [node] = planDrill({ ...facts, pods, ...more }, nowMs, nowMs + days * dayMs)
    assert.equal(node?.result, result)
    assert.match(node?.reasons.join('; ') ?? '', reason)
  }
})
