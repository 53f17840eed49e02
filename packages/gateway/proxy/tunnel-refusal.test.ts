import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StatusError } from '@skerry/api'
import {
  BadMessageError,
  TunnelBusyError,
  TunnelClosedError,
  TunnelStreamError,
  TunnelUnavailableError,
} from '@skerry/tunnel'
import { tunnelRefusal } from './tunnel-refusal.ts'

const nowMs = Date.UTC(2026, 0, 1, 12)
const agoMs = (seconds: number): number => nowMs - seconds * 1_000
const lookAgain = 'Thu, 01 Jan 2026 12:00:30 GMT'

interface Case {
  what: string
  error: Error
  awaySinceMs?: number
  status: number
  message: string
  /** The header's value, or details.retryAfterSeconds, from which it is made. */
  retryAfter?: string | number
}

const table: readonly Case[] = [
  {
    what: 'one that is soon back: come again in seconds',
    error: new TunnelUnavailableError('edge', { reason: 'cut', atMs: agoMs(5) }),
    status: 503,
    message:
      'Cannot reach cluster "edge": cut, not connected since 2026-01-01T11:59:55.000Z (request r-1)',
    retryAfter: 2,
  },
  {
    what: 'one that stays away: a date, which clients of Kubernetes do not wait for',
    error: new TunnelUnavailableError('edge', { reason: 'cut', atMs: agoMs(31) }),
    status: 503,
    message:
      'Cannot reach cluster "edge": cut, not connected since 2026-01-01T11:59:29.000Z (request r-1)',
    retryAfter: lookAgain,
  },
  {
    what: 'one of which a hub that has just started knows from its object only',
    error: new TunnelUnavailableError('edge', undefined),
    awaySinceMs: agoMs(3_600),
    status: 503,
    message:
      'Cannot reach cluster "edge": no agent has connected since the hub started, not connected since 2026-01-01T11:00:00.000Z (request r-1)',
    retryAfter: lookAgain,
  },
  {
    what: 'one that never came',
    error: new TunnelUnavailableError('edge', undefined),
    status: 503,
    message: 'Cannot reach cluster "edge": it has not connected yet (request r-1)',
    retryAfter: lookAgain,
  },
  {
    what: 'it ended before anything was sent',
    error: new TunnelClosedError('the agent is leaving', { isSent: false }),
    status: 503,
    message: 'Cannot reach cluster "edge": the agent is leaving (request r-1)',
    retryAfter: 1,
  },
  {
    what: 'it ended under the request: a write that may have happened must not be repeated',
    error: new TunnelClosedError('connection was cut', { isSent: true }),
    status: 503,
    message: 'Cannot reach cluster "edge": connection was cut (request r-1)',
  },
  {
    what: 'the stream broke',
    error: new TunnelStreamError('Cannot read answer: reset'),
    status: 503,
    message: 'Cannot reach cluster "edge": reset (request r-1)',
  },
  {
    what: 'the tunnel is full',
    error: new TunnelBusyError('Cannot send request: 1000 streams are open'),
    status: 429,
    message: 'Cannot reach cluster "edge": its tunnel is full',
    retryAfter: 1,
  },
  {
    what: 'a request that the tunnel cannot carry',
    error: new BadMessageError('Cannot pass headers: too many', 431),
    status: 431,
    message: 'Cannot pass headers: too many',
  },
]

for (const { what, error, awaySinceMs, status, message, retryAfter } of table) {
  test(`a refusal says why, since when, and when to come again: ${what}`, () => {
    const asked = { cluster: 'edge', auditId: 'r-1', nowMs, awaySinceMs }
    const refusal = tunnelRefusal(asked, error)
    assert.ok(refusal instanceof StatusError)
    assert.deepEqual([refusal.code, refusal.message], [status, message])
    const told = refusal.headers?.['retry-after'] ?? refusal.details?.retryAfterSeconds
    assert.equal(told, retryAfter)
  })
}
