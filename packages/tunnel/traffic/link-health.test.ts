import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedClock } from '@skerry/base'
import { watchLink } from './link-health.ts'
import type { LinkListener, TunnelLink } from '../frame/tunnel-link.ts'
import { tunnelLimitDefaults } from '../limits-table.ts'

const events = { onDead: () => assert.fail('It is not dead') }

/** Returns a link whose pings are answered when the test decides. */
function slowLink() {
  const counts = { bytesIn: 0, bytesOut: 0 }
  const pings: string[] = []
  let listener: LinkListener | undefined
  const link: TunnelLink = {
    send: (_message, onSent) => onSent(),
    receive: () => undefined,
    bytesHeard: 0,
    get bytesIn() {
      return counts.bytesIn
    },
    get bytesOut() {
      return counts.bytesOut
    },
    listen: (next) => void (listener = next),
    ping: (payload) => void pings.push(payload),
    close: () => undefined,
    terminate: () => undefined,
    closed: new Promise(() => undefined),
  }
  const answer = (): void => {
    const payload = pings.shift()
    listener?.onHeard()
    if (payload !== undefined) listener?.onPong(payload)
  }
  return { link, counts, answer }
}

test('the round trip is known from the first answer on, and one odd ping hardly moves it', async () => {
  const clock = simulatedClock()
  const { link, answer } = slowLink()
  using health = watchLink(link, tunnelLimitDefaults, clock, events)
  assert.equal(health.rttMs, undefined)
  await clock.advance(80)
  answer()
  assert.equal(health.rttMs, 80)
  await clock.advance(9_920)
  // The second ping is on its way now, and takes its time.
  await clock.advance(880)
  answer()
  // An eighth of what is new (RFC 6298, 2.3).
  assert.equal(health.rttMs, 80 + (880 - 80) / 8)
  for (let round = 0; round < 30; round += 1) {
    await clock.advance(round === 0 ? 9_120 : 9_920)
    await clock.advance(80)
    answer()
  }
  assert.ok(health.rttMs < 90, 'an odd one is forgotten')
})

test('rates are those of the last ten seconds, and an idle link has none', async () => {
  const clock = simulatedClock()
  const { link, counts, answer } = slowLink()
  using health = watchLink(link, tunnelLimitDefaults, clock, events)
  assert.deepEqual(health.byteRates, { inPerSecond: 0, outPerSecond: 0 })
  for (let seconds = 0; seconds < 30; seconds += 1) {
    counts.bytesIn += 1_000
    counts.bytesOut += 50
    await clock.advance(1_000)
    answer()
  }
  const { inPerSecond, outPerSecond } = health.byteRates
  assert.ok(Math.abs(inPerSecond - 1_000) < 100, String(inPerSecond))
  assert.ok(Math.abs(outPerSecond - 50) < 5, String(outPerSecond))
  for (let seconds = 0; seconds < 15; seconds += 1) {
    await clock.advance(1_000)
    answer()
  }
  assert.deepEqual(health.byteRates, { inPerSecond: 0, outPerSecond: 0 })
})
