import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger, simulatedClock } from '@skerry/base'
import { type TunnelSession } from '@skerry/tunnel'
import { acceptTunnel } from '../../tunnel/session/hub-session.ts'
import { TrafficTotals } from './traffic-totals.ts'

const otherClusters = ''

/** Returns a session whose link reports these byte counts. */
function sessionOf(counts: { bytesIn: number; bytesOut: number }) {
  const closed = Promise.withResolvers<string>()
  const link: Parameters<typeof acceptTunnel>[0] = {
    send: (_message, onSent) => onSent(),
    receive: () => undefined,
    bytesHeard: 0,
    get bytesIn() {
      return counts.bytesIn
    },
    get bytesOut() {
      return counts.bytesOut
    },
    listen: () => undefined,
    ping: () => undefined,
    close: (reason) => closed.resolve(reason),
    terminate: () => closed.resolve('terminated'),
    closed: closed.promise,
  }
  const deps = { clock: simulatedClock(), log: silentLogger }
  const session: TunnelSession = acceptTunnel(link, {}, deps)
  return { session, close: async () => (session.close('over'), await session.closed) }
}

const shown = (totals: TrafficTotals) =>
  Object.fromEntries(
    [...totals.all()].map(({ cluster, bytesIn, bytesOut }) => [cluster, [bytesIn, bytesOut]]),
  )

test('a cluster keeps its sum over its tunnels, open and ended', async () => {
  const totals = new TrafficTotals()
  const counts = { bytesIn: 10, bytesOut: 1 }
  const first = sessionOf(counts)
  totals.add('oslo', first.session)
  counts.bytesIn = 25
  assert.deepEqual(shown(totals), { oslo: [25, 1], [otherClusters]: [0, 0] })
  await first.close()
  totals.add('oslo', sessionOf({ bytesIn: 5, bytesOut: 5 }).session)
  assert.deepEqual(shown(totals), { oslo: [30, 6], [otherClusters]: [0, 0] })
})

test('there are never more lines than the bound, no byte is lost, and no sum shrinks', async () => {
  const totals = new TrafficTotals(2)
  const oslo = sessionOf({ bytesIn: 1, bytesOut: 10 })
  const rome = sessionOf({ bytesIn: 2, bytesOut: 20 })
  const lima = sessionOf({ bytesIn: 4, bytesOut: 40 })
  totals.add('oslo', oslo.session)
  totals.add('rome', rome.session)
  // All places are taken by clusters that are connected.
  totals.add('lima', lima.session)
  assert.deepEqual(shown(totals), { oslo: [1, 10], rome: [2, 20], [otherClusters]: [4, 40] })
  await oslo.close()
  await lima.close()
  assert.deepEqual(shown(totals), { oslo: [1, 10], rome: [2, 20], [otherClusters]: [4, 40] })
  totals.add('bern', sessionOf({ bytesIn: 8, bytesOut: 80 }).session)
  assert.deepEqual(shown(totals), { rome: [2, 20], bern: [8, 80], [otherClusters]: [5, 50] })
})
