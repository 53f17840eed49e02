import assert from 'node:assert/strict'
import { test } from 'node:test'
import { certificateRows, certificateState } from './certificate-rows.ts'

const dayMs = 86_400_000
const nowMs = Date.parse('2026-03-01T10:00:00Z')

const nothing: Parameters<typeof certificateRows>[0] = {
  apiVersion: undefined,
  annotations: {},
  isVirtual: false,
  agents: [],
  nodes: [],
}

test('a certificate says whether somebody has to do something about it', () => {
  const at = (days: number, renewsItself: boolean): string =>
    certificateState({ endMs: nowMs + days * dayMs, renewsItself }, nowMs)
  assert.deepEqual(
    [300, 4, 2, -1].map((days) => at(days, true)),
    ['renews', 'renews', 'late', 'ended'],
  )
  assert.deepEqual(
    [300, 31, 29, 0].map((days) => at(days, false)),
    ['good', 'good', 'soon', 'ended'],
  )
  assert.equal(certificateState({ endMs: undefined, renewsItself: true }, nowMs), 'unknown')
})

test('the API server, each agent and both certificates of each node are listed with their versions', () => {
  const rows = certificateRows({
    apiVersion: 'v1.36.3+skerry',
    annotations: { 'hub.skerry.io/api-certificate-expires': '2027-03-01T10:00:00Z' },
    isVirtual: false,
    agents: [
      { host: 'till', address: '10.0.0.9', version: '0.1.0', certificateExpires: null },
      {
        host: null,
        address: '10.0.0.10',
        version: null,
        certificateExpires: '2026-12-01T00:00:00Z',
      },
    ],
    nodes: [
      {
        metadata: {
          name: 'till-1',
          annotations: { 'skerry.io/client-certificate-expires': '2027-01-01T00:00:00Z' },
        },
        status: { nodeInfo: { kubeletVersion: 'v1.36.3' } },
      },
      {
        metadata: { name: 'foreign' },
        status: { nodeInfo: { kubeletVersion: 'v1.34.1' } },
      },
    ],
  })
  const shown = rows.map(({ use, name, version, endMs, renewsItself }) => [
    `${use} ${name}`,
    version,
    endMs === undefined ? '-' : new Date(endMs).toISOString().slice(0, 10),
    renewsItself,
  ])
  assert.deepEqual(shown, [
    ['api ', 'v1.36.3+skerry', '2027-03-01', true],
    ['agent till', '0.1.0', '-', true],
    ['agent 10.0.0.10', '', '2026-12-01', true],
    ['client till-1', 'v1.36.3', '2027-01-01', true],
    ['serving till-1', 'v1.36.3', '-', false],
    ['client foreign', 'v1.34.1', '-', false],
    ['serving foreign', 'v1.34.1', '-', false],
  ])
})

test('a cluster that has not reported yet has an API server of which nothing is known', () => {
  const rows = certificateRows({
    ...nothing,
    annotations: { 'hub.skerry.io/api-certificate-expires': 'soon' },
  })
  assert.deepEqual(
    rows.map(({ use, version, endMs }) => [use, version, endMs]),
    [['api', '', undefined]],
  )
})

test('a virtual cluster has the certificate of its own agent, and no API server', () => {
  const annotations = { 'hub.skerry.io/certificate-expires': '2027-03-01T10:00:00Z' }
  const rows = certificateRows({ ...nothing, annotations, isVirtual: true })
  assert.deepEqual(
    rows.map(({ use, endMs }) => [use, endMs]),
    [['agent', Date.parse('2027-03-01T10:00:00Z')]],
  )
})
