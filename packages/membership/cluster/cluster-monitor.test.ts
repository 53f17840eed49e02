import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterCondition } from '@skerry/fleet-kinds'
import {
  nextLookMs,
  planConditions,
  returnLeftMs,
  type ConditionsInput,
  type ReturnTimes,
  type TunnelState,
} from './plan-conditions.ts'
import { clusterMonitorDefaults } from '../limits-table.ts'

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

test('the reported state of a silent cluster stays as it is', () => {
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
    returnLeftMs(times, clusterMonitorDefaults, seconds * 1_000) > 0
  assert.deepEqual([at(7), at(36), at(37)], [true, true, false])
  times.openedMs = 36_000
  assert.deepEqual([at(45), at(46)], [true, false])
  times.openedMs = 306_000
  assert.deepEqual([at(306), at(307)], [true, false])
})

test('a cluster is looked at again when time alone may change its conditions', () => {
  const settings = clusterMonitorDefaults
  const away = { isConnected: false }
  const look = (changes: Partial<ConditionsInput>, leftMs = 0): number =>
    nextLookMs(
      {
        conditions: [ready, connected],
        isPushed: false,
        silence: { ms: 10_000, hasLease: true },
        areReturning: leftMs > 0,
        tunnel: { isConnected: true },
        nowMs,
        settings,
        ...changes,
      },
      leftMs,
    )
  assert.equal(look({}), 30_001, 'its agent falls silent then')
  assert.equal(look({ silence: { ms: 40_000, hasLease: true } }), 1)
  assert.equal(look({ silence: { ms: 50_000, hasLease: true } }), 40_000, 'that was said already')
  assert.equal(look({ silence: { ms: 55_000, hasLease: false } }), 5_001, 'its agent never spoke')
  assert.equal(look({ tunnel: away }, 7_000), 7_000, 'its agent is not waited for any more then')
  assert.equal(look({}, 7_000), 30_001, 'its agent is back')
  assert.equal(look({ isPushed: true }), 40_000)
})

test('a condition that changes with time is reported at its announced time, and not before', () => {
  const settings = clusterMonitorDefaults
  const times: ReturnTimes = { startedMs: 0, openedMs: 40_000 }
  const conditions = [ready, connected]
  const at = (ms: number): ConditionsInput => ({
    conditions,
    isPushed: false,
    silence: { ms: ms - 15_000, hasLease: true },
    areReturning: returnLeftMs(times, settings, ms) > 0,
    tunnel: { isConnected: false },
    nowMs,
    settings,
  })
  let ms = 41_000
  const changes: string[] = []
  while (ms < 60_000) {
    ms += nextLookMs(at(ms), returnLeftMs(times, settings, ms))
    assert.deepEqual(planConditions(at(ms - 1)), conditions, `${ms} ms is not too late`)
    for (const { type, reason } of planConditions(at(ms))) changes.push(`${type} ${reason}`)
    if (changes.some((text) => text.endsWith('HubRestarted'))) break
  }
  assert.deepEqual([ms, changes], [50_000, ['Ready ClusterReady', 'Connected HubRestarted']])
})
