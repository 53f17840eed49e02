import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, Taint } from '@skerry/api'
import { ExpectedError, silentLogger, systemClock } from '@skerry/base'
import { createCluster, resources } from '@skerry/client'
import { startTestApiServer } from '@skerry/testing'
import { labelNode, parseNodeChange, type NodeChange } from './label-node.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const name = 'shop'
const mine: Taint = { key: 'example.com/video', value: 'yes', effect: 'NoSchedule' }
const theirs: Taint = { key: 'example.com/repair', effect: 'NoExecute' }
const given = {
  labels: { tier: 'front', shop: '7' },
  taints: [{ ...mine, effect: 'NoSchedule' as const }],
}

/** The labels of the node that begin with no domain, its taints, and the last line. */
interface Outcome {
  readonly labels: Readonly<Record<string, string>>
  readonly taints: readonly string[]
  readonly line: string
}

async function outcomeOf(before: Partial<Node>, change: NodeChange): Promise<Outcome> {
  await using server = await startTestApiServer()
  const deps = { clock: systemClock, log: silentLogger, userAgent: 'test' }
  const cluster = createCluster(server.transport, deps)
  const nodes = cluster.resource(resources.nodes)
  const { metadata, spec } = before
  await nodes.create(
    { apiVersion: 'v1', kind: 'Node', metadata: { name, ...metadata }, ...(spec ? { spec } : {}) },
    soon(),
  )
  const lines: string[] = []
  await labelNode(cluster, { name, change }, (line) => void lines.push(line), soon())
  const node = await nodes.get({ name }, soon())
  const taints = (node.spec?.taints ?? []).map(
    ({ key, value = '', effect }) => `${key}=${value}:${effect}`,
  )
  return { labels: node.metadata.labels ?? {}, taints, line: lines.at(-1) ?? '' }
}

const stories: readonly (readonly [string, Partial<Node>, NodeChange, Outcome])[] = [
  [
    'a node gets labels and taints next to those of others',
    { metadata: { labels: { own: 'x' } }, spec: { taints: [theirs] } },
    { former: [], wanted: given },
    {
      labels: { own: 'x', tier: 'front', shop: '7' },
      taints: ['example.com/repair=:NoExecute', 'example.com/video=yes:NoSchedule'],
      line: 'node shop: labels set: 2, taints set: 1',
    },
  ],
  [
    'a node loses exactly what it was given',
    { metadata: { labels: { own: 'x', ...given.labels } }, spec: { taints: [mine, theirs] } },
    { former: [given], wanted: { labels: { shop: '8' } } },
    {
      labels: { own: 'x', shop: '8' },
      taints: ['example.com/repair=:NoExecute'],
      line: 'node shop: labels set: 1, labels removed: 1, taints removed: 1',
    },
  ],
  [
    'a label and a taint that somebody has given another value stay',
    {
      metadata: { labels: { tier: 'back' } },
      spec: { taints: [{ ...mine, value: 'no' }] },
    },
    { former: [given], wanted: {} },
    {
      labels: { tier: 'back' },
      taints: ['example.com/video=no:NoSchedule'],
      line: 'node shop: its labels and taints are as wanted',
    },
  ],
  [
    'a taint with another value takes the place of the one before',
    { spec: { taints: [mine] } },
    { former: [given], wanted: { taints: [{ ...mine, value: 'no', effect: 'NoSchedule' }] } },
    {
      labels: {},
      taints: ['example.com/video=no:NoSchedule'],
      line: 'node shop: taints set: 1',
    },
  ],
]

for (const [title, before, change, expected] of stories) {
  test(title, async () => {
    assert.deepEqual(await outcomeOf(before, change), expected)
  })
}

test('the fields of a node that an edge cluster sets have an owner of their own', async () => {
  await using server = await startTestApiServer()
  const deps = { clock: systemClock, log: silentLogger, userAgent: 'test' }
  const cluster = createCluster(server.transport, deps)
  const nodes = cluster.resource(resources.nodes)
  const applied = { apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { own: 'x' } } }
  await nodes.patch({ name, type: 'apply', patch: applied, fieldManager: 'kubectl' }, soon())
  await labelNode(cluster, { name, change: { former: [], wanted: given } }, () => undefined, soon())
  const { managedFields = [] } = (await nodes.get({ name }, soon())).metadata
  const fields = managedFields.find(({ manager }) => manager === 'skerry-edge-cluster')?.fieldsV1
  assert.match(JSON.stringify(fields), /"f:shop":.*"f:tier":/)
  assert.doesNotMatch(JSON.stringify(fields), /"f:own"/)
})

test('a node that is gone, and a text without a change, are named', async () => {
  await using server = await startTestApiServer()
  const deps = { clock: systemClock, log: silentLogger, userAgent: 'test' }
  const cluster = createCluster(server.transport, deps)
  const change = { former: [], wanted: {} }
  const none = labelNode(cluster, { name: 'none', change }, () => undefined, soon())
  await assert.rejects(none, /Cannot label node none: the site has none/)
  for (const text of [
    '',
    '{}',
    '{"former":[],"wanted":{"taints":[{"key":"a","effect":"Never"}]}}',
  ]) {
    assert.throws(() => parseNodeChange(text), ExpectedError)
  }
})
