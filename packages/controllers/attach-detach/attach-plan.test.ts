import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, Pod, VolumeAttachment } from '@skerry/api'
import { planAttach, type AttachState } from './attach-plan.ts'
import { multiAttachMessage } from './multi-attach.ts'

const volumeName = 'kubernetes.io/csi/a.example.com^h'
const nowMs = Date.parse('2026-01-01T12:00:00Z')
const minuteMs = 60_000

function pod(name: string, namespace = 'default'): Pod {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace } }
}

interface NodeFacts {
  isUsed?: boolean
  isReported?: boolean
  isReady?: boolean
  isOut?: boolean
}

function node({ isUsed, isReported, isReady = true, isOut }: NodeFacts): Node {
  const status = isReady ? 'True' : 'Unknown'
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'a' },
    spec: isOut
      ? { taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] }
      : {},
    status: {
      conditions: [{ type: 'Ready', status }],
      ...(isUsed ? { volumesInUse: [volumeName] } : {}),
      ...(isReported ? { volumesAttached: [{ name: volumeName, devicePath: '' }] } : {}),
    },
  }
}

function attachment(change: Partial<VolumeAttachment> = {}): VolumeAttachment {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttachment',
    metadata: { name: 'csi-1' },
    spec: { attacher: 'a.example.com', nodeName: 'a', source: {} },
    ...change,
  }
}

function state(change: Partial<AttachState>): AttachState {
  return {
    volumeName,
    driver: 'a.example.com',
    handle: 'h',
    isShareable: false,
    wanted: new Map(),
    attachments: new Map(),
    nodes: new Map(),
    unwantedSinceMs: new Map(),
    waitingSinceMs: new Map(),
    nowMs,
    ...change,
  }
}

function unwanted(facts: NodeFacts | undefined, forMs: number): AttachState {
  return state({
    attachments: new Map([['a', attachment({ status: { attached: true } })]]),
    nodes: new Map(facts === undefined ? [] : [['a', node(facts)]]),
    unwantedSinceMs: new Map([['a', nowMs - forMs]]),
  })
}

const detaching: {
  name: string
  facts: NodeFacts | undefined
  forMs: number
  becomes: 'kept' | 'asked' | 'forced'
  nextMs?: number
}[] = [
  { name: 'not in use', facts: {}, forMs: 0, becomes: 'asked' },
  { name: 'in use', facts: { isUsed: true }, forMs: 0, becomes: 'kept', nextMs: 360_001 },
  { name: 'in use for long', facts: { isUsed: true }, forMs: 7 * minuteMs, becomes: 'kept' },
  {
    name: 'in use on a node that is gone silent, not long enough',
    facts: { isUsed: true, isReady: false },
    forMs: 5 * minuteMs,
    becomes: 'kept',
    nextMs: minuteMs + 1,
  },
  {
    name: 'in use on a node that has been silent for long',
    facts: { isUsed: true, isReady: false },
    forMs: 6 * minuteMs + 1,
    becomes: 'forced',
  },
  {
    name: 'in use on a node that is out of service',
    facts: { isUsed: true, isOut: true },
    forMs: 0,
    becomes: 'forced',
  },
  { name: 'on a node that is not there', facts: undefined, forMs: 0, becomes: 'asked' },
]

test('a volume leaves a node that uses it only when the node is out of service or silent for long', async (t) => {
  for (const { name, facts, forMs, becomes, nextMs } of detaching) {
    await t.test(name, () => {
      const plan = planAttach(unwanted(facts, forMs))
      const [found] = plan.detach
      assert.equal(found === undefined ? 'kept' : found.mustAsk ? 'asked' : 'forced', becomes)
      assert.equal(plan.nextMs, nextMs)
    })
  }
})

const wanted = new Map([['a', [pod('web')]]])
const elsewhere = new Map([['b', attachment({ status: { attached: true } })]])
const waitingSinceMs = new Map([['a', nowMs - 2 * minuteMs]])
const timedOut =
  'timed out waiting for external-attacher of a.example.com CSI driver to attach volume h'

test('a volume that pods need is attached, to one node at a time unless it may be shared', () => {
  const alone = planAttach(state({ wanted }))
  assert.deepEqual(alone.attach, ['a'])
  const refused = planAttach(state({ wanted, attachments: elsewhere }))
  assert.deepEqual(refused.attach, [])
  assert.deepEqual(refused.refused, [{ nodeName: 'a', holders: ['b'] }])
  assert.deepEqual(
    planAttach(state({ wanted, attachments: elsewhere, isShareable: true })).attach,
    ['a'],
  )
  const both = new Map([...wanted, ['b', [pod('other')]]])
  const raced = planAttach(state({ wanted: both }))
  assert.deepEqual([raced.attach, raced.refused.map(({ nodeName }) => nodeName)], [['a'], ['b']])
})

test('a driver has two minutes; its errors are reported', () => {
  const asked = (change: Partial<VolumeAttachment>, more: Partial<AttachState> = {}) =>
    planAttach(state({ wanted, attachments: new Map([['a', attachment(change)]]), ...more }))
  assert.deepEqual([asked({}).failed, asked({}).nextMs], [[], 2 * minuteMs])
  assert.deepEqual(asked({}, { waitingSinceMs }).failed, [{ nodeName: 'a', message: timedOut }])
  const status = { attached: false, attachError: { message: 'no room' } }
  assert.deepEqual(asked({ status }).failed, [{ nodeName: 'a', message: 'no room' }])
  const metadata = { name: 'csi-1', deletionTimestamp: '2026-01-01T12:00:00Z' }
  assert.deepEqual(asked({ metadata, status: { attached: true } }).failed, [
    { nodeName: 'a', message: 'volume attachment is being deleted' },
  ])
  const attached = { status: { attached: true } }
  assert.deepEqual(asked(attached).report, ['a'])
  const nodes = new Map([['a', node({ isReported: true })]])
  assert.deepEqual(asked(attached, { nodes }).report, [])
})

test('the holder of a volume is named within the namespace only', () => {
  const prefix = 'Multi-Attach error for volume "v" Volume is already'
  const say = (...holders: Pod[]): string => multiAttachMessage('v', pod('me'), holders)
  assert.equal(say(), `${prefix} exclusively attached to one node and can't be attached to another`)
  assert.equal(say(pod('x'), pod('y')), `${prefix} used by pod(s) x, y`)
  assert.equal(
    say(pod('x'), pod('y', 'far')),
    `${prefix} used by pod(s) x and 1 pod(s) in different namespaces`,
  )
  assert.equal(say(pod('y', 'far')), `${prefix} used by 1 pod(s) in different namespaces`)
})
