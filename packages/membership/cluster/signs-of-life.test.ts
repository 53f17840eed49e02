import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Lease } from '@skerry/api'
import { hear, silenceOf, type Heard } from './signs-of-life.ts'

const settings = { graceMs: 40_000 }

/** A lease that lasts for so many seconds, renewed for that time. */
function leaseOf(seconds: number, renewal = 0): Lease {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: 'karmada-cluster', name: 'edge' },
    spec: { leaseDurationSeconds: seconds, renewTime: `2026-01-01T00:00:${renewal}.000000Z` },
  }
}

type Look = readonly [atSeconds: number, lease: Lease | undefined, isConnected: boolean]

/** Returns for how many seconds the agent was silent at the last of these looks. */
function silentFor(looks: readonly Look[]): number {
  let heard: Heard | undefined
  let seconds = NaN
  for (const [atSeconds, lease, isConnected] of looks) {
    const signs = { lease, isConnected, nowMs: atSeconds * 1_000 }
    heard = hear(heard, signs, settings)
    seconds = silenceOf(heard, signs).ms / 1_000
  }
  return seconds
}

test('an open tunnel is a sign of life for an agent whose lease lasts, and for no other', () => {
  const long = leaseOf(600)
  const table: readonly { what: string; looks: readonly Look[]; want: number }[] = [
    {
      what: 'its tunnel is open',
      looks: [
        [0, long, true],
        [500, long, true],
      ],
      want: 0,
    },
    {
      what: 'its tunnel is open, but even a lease that lasts has run out',
      looks: [
        [0, long, true],
        [600, long, true],
        [601, long, true],
        [650, long, true],
      ],
      want: 49,
    },
    {
      what: 'its tunnel has ended: silence counts from there',
      looks: [
        [0, long, true],
        [100, long, false],
        [130, long, false],
      ],
      want: 30,
    },
    {
      what: 'its tunnel was never open',
      looks: [
        [0, long, false],
        [50, long, false],
      ],
      want: 50,
    },
    {
      what: 'it renews its lease without a tunnel',
      looks: [
        [0, long, true],
        [100, long, false],
        [130, leaseOf(40, 1), false],
        [135, leaseOf(40, 1), false],
      ],
      want: 5,
    },
    {
      what: 'it renews a short lease, so its tunnel says nothing about its reports',
      looks: [
        [0, leaseOf(40), true],
        [50, leaseOf(40), true],
      ],
      want: 50,
    },
    {
      what: 'it has no lease',
      looks: [
        [0, undefined, true],
        [50, undefined, true],
      ],
      want: 50,
    },
  ]
  for (const { what, looks, want } of table) assert.equal(silentFor(looks), want, what)
})
