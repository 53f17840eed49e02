import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterCondition } from './cluster.ts'
import {
  areReturning,
  clusterMonitorDefaults,
  planConditions,
  type ReturnTimes,
  type TunnelState,
} from './cluster-monitor.ts'

const nowMs = Date.UTC(2026, 0, 1, 12)
const before = '2026-01-01T11:00:00Z'
const ready: ClusterCondition = {
  type: 'Ready',
  status: 'True',
  reason: 'ClusterReady',
  message: 'fine',
  lastTransitionTime: before,
}
const connected: ClusterCondition = { ...ready, type: 'Connected', reason: 'TunnelOpen' }

interface Case {
  what: string
  conditions?: ClusterCondition[]
  silenceMs: number
  hasLease?: boolean
  areReturning?: boolean
  tunnel: TunnelState
  isPushed?: boolean
  want: Record<string, string>
}

test('a silent agent makes Ready unknown, a closed tunnel shows why and since when', () => {
  const open = { isConnected: true }
  const table: Case[] = [
    {
      what: 'all is well',
      conditions: [ready, connected],
      silenceMs: 39_000,
      tunnel: open,
      want: { Ready: `True ClusterReady ${before}`, Connected: `True TunnelOpen ${before}` },
    },
    {
      what: 'silent for longer than the grace',
      conditions: [ready, connected],
      silenceMs: 41_000,
      tunnel: open,
      want: {
        Ready: 'Unknown ClusterStatusUnknown 2026-01-01T12:00:00Z',
        Connected: `True TunnelOpen ${before}`,
      },
    },
    {
      what: 'new, and not silent for long yet',
      silenceMs: 59_000,
      hasLease: false,
      tunnel: { isConnected: false },
      want: { Connected: 'False NeverConnected 2026-01-01T12:00:00Z' },
    },
    {
      what: 'new, and never heard',
      silenceMs: 61_000,
      hasLease: false,
      tunnel: { isConnected: false },
      want: {
        Ready: 'Unknown ClusterStatusUnknown 2026-01-01T12:00:00Z',
        Connected: 'False NeverConnected 2026-01-01T12:00:00Z',
      },
    },
    {
      what: 'the tunnel is cut and the agent still reports',
      conditions: [ready, connected],
      silenceMs: 5_000,
      tunnel: { isConnected: false, lastEnd: { reason: 'cut', atMs: nowMs } },
      want: {
        Ready: `True ClusterReady ${before}`,
        Connected: 'False TunnelClosed 2026-01-01T12:00:00Z',
      },
    },
    {
      what: 'it was connected before the hub started, and has not come back',
      conditions: [ready, connected],
      silenceMs: 5_000,
      tunnel: { isConnected: false },
      want: {
        Ready: `True ClusterReady ${before}`,
        Connected: 'False HubRestarted 2026-01-01T12:00:00Z',
      },
    },
    {
      what: 'it was connected before the hub started, and may be on its way back',
      conditions: [ready, connected],
      silenceMs: 5_000,
      areReturning: true,
      tunnel: { isConnected: false },
      want: { Ready: `True ClusterReady ${before}`, Connected: `True TunnelOpen ${before}` },
    },
    {
      what: 'its agent is among the last of thousands that come back, and could not be heard yet',
      conditions: [ready, connected],
      silenceMs: 90_000,
      areReturning: true,
      tunnel: { isConnected: false },
      want: { Ready: `True ClusterReady ${before}`, Connected: `True TunnelOpen ${before}` },
    },
    {
      what: 'its agent has come back, and says nothing',
      conditions: [ready, connected],
      silenceMs: 90_000,
      areReturning: true,
      tunnel: { isConnected: true },
      want: {
        Ready: 'Unknown ClusterStatusUnknown 2026-01-01T12:00:00Z',
        Connected: `True TunnelOpen ${before}`,
      },
    },
    {
      what: 'it came back soon, and was cut again',
      conditions: [ready, connected],
      silenceMs: 5_000,
      areReturning: true,
      tunnel: { isConnected: false, lastEnd: { reason: 'cut', atMs: nowMs } },
      want: {
        Ready: `True ClusterReady ${before}`,
        Connected: 'False TunnelClosed 2026-01-01T12:00:00Z',
      },
    },
    {
      what: 'it was away before the hub started, and still is: why and since when stay',
      conditions: [ready, { ...connected, status: 'False', reason: 'TunnelClosed' }],
      silenceMs: 5_000,
      tunnel: { isConnected: false },
      want: {
        Ready: `True ClusterReady ${before}`,
        Connected: `False TunnelClosed ${before}`,
      },
    },
    {
      what: 'in push mode it has no tunnel, and no agent that could be silent',
      conditions: [ready, connected],
      silenceMs: 100_000,
      hasLease: false,
      tunnel: { isConnected: false },
      isPushed: true,
      want: { Ready: `True ClusterReady ${before}` },
    },
  ]
  const settings = clusterMonitorDefaults
  for (const { what, conditions = [], silenceMs, tunnel, want, ...rest } of table) {
    const { hasLease = true, isPushed = false, areReturning = false } = rest
    const silence = { ms: silenceMs, hasLease }
    const input = { conditions, isPushed, silence, areReturning, tunnel, nowMs, settings }
    const planned = planConditions(input)
    const shown = planned.map(({ type, status, reason, lastTransitionTime }) => [
      type,
      `${status} ${reason} ${lastTransitionTime}`,
    ])
    assert.deepEqual(Object.fromEntries(shown), want, what)
  }
})

test('what was said of a silent cluster stays as it is', () => {
  const silence = { ms: 100_000, hasLease: true }
  const settings = clusterMonitorDefaults
  const tunnel = { isConnected: true }
  const input = { isPushed: false, silence, areReturning: true, tunnel, nowMs, settings }
  const first = planConditions({ ...input, conditions: [ready] })
  assert.deepEqual(planConditions({ ...input, conditions: first, nowMs: nowMs + 5_000 }), first)
})

test('agents are waited for as long as some of them come, and for five minutes at most', () => {
  const times: ReturnTimes = {}
  const at = (seconds: number): boolean =>
    areReturning(times, clusterMonitorDefaults, seconds * 1_000)
  assert.deepEqual([at(7), at(36), at(37)], [true, true, false])
  times.openedMs = 36_000
  assert.deepEqual([at(45), at(46)], [true, false])
  times.openedMs = 306_000
  assert.deepEqual([at(306), at(307)], [true, false])
})
