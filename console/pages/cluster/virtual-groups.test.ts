import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupPreview, labelOf, sourceText, troublesOf } from './virtual-groups.ts'

test('a label of nodes makes a group for each of its values', () => {
  const node = (name: string, branch?: string) => ({
    metadata: { name, ...(branch === undefined ? {} : { labels: { branch } }) },
  })
  assert.deepEqual(
    groupPreview('branch', [
      node('n10', 'east'),
      node('n2', 'east'),
      node('n1', 'north'),
      node('n3'),
      node('n4', ''),
    ]),
    {
      groups: [
        { name: 'east', nodes: ['n2', 'n10'] },
        { name: 'north', nodes: ['n1'] },
      ],
      others: ['n3', 'n4'],
    },
  )
})

test('each source has a word, and those by label have their label', () => {
  const table = [
    [{ label: { key: 'branch' } }, 'branch', 'branch'],
    [{ nodeGroups: {} }, 'apps.kubeedge.io/belonging-to', 'KubeEdge NodeGroup'],
    [{ nodePools: {} }, 'apps.openyurt.io/nodepool', 'OpenYurt NodePool'],
    [{ nodeUnits: {} }, undefined, 'SuperEdge NodeUnit'],
  ] as const
  for (const [source, label, text] of table) {
    assert.deepEqual([labelOf(source), sourceText(source)], [label, text])
  }
})

test('problems, conditions that are not true and a group that is gone are troubles', () => {
  const east = {
    metadata: { name: 'east', annotations: { 'edge.skerry.io/group-gone-since': 'T' } },
    status: {
      problems: ['node "a" is in two groups'],
      conditions: [
        { type: 'Registered', status: 'True' },
        { type: 'Ready', status: 'False', reason: 'NotTaken', message: 'revoked' },
      ],
    },
  }
  assert.deepEqual(troublesOf(east), [
    'node "a" is in two groups',
    'Ready: NotTaken revoked',
    'group-gone-since: T',
  ])
  assert.deepEqual(troublesOf({ metadata: { name: 'new' } }), [])
})
