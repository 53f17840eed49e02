import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedClock } from '@skerry/base'
import type { TunnelSession } from '@skerry/tunnel'
import { createBrokenTunnelAudit } from './broken-tunnel-audit.ts'
import { brokenTunnelLimits } from '../limits-table.ts'

const { linesMax, perMs } = brokenTunnelLimits

test('an agent that breaks rules again and again does not fill the audit log', async () => {
  const clock = simulatedClock()
  const lines: { cluster: string; cut: string; omitted?: number }[] = []
  const write = (line: string): void => void lines.push(JSON.parse(line))
  const onBroken = createBrokenTunnelAudit({ write, clock })
  const broken = (cluster: string): void => {
    const user = { name: `system:karmada:agent:${cluster}`, uid: '', groups: [], extra: {} }
    const opener = { cluster, user, auditId: 'a', uri: '/', source: '', userAgent: '' }
    const session = {
      openedAtMs: clock.now(),
      bytesIn: 1,
      bytesOut: 0,
      brokenRule: 'x'.repeat(999),
    }
    // Only these fields of a session are read.
    onBroken(opener, session as unknown as TunnelSession)
  }
  for (let time = 0; time < linesMax + 5; time += 1) broken('loud')
  broken('other')
  assert.equal(lines.filter(({ cluster }) => cluster === 'loud').length, linesMax)
  assert.equal(lines.at(-1)?.cluster, 'other')
  assert.ok((lines[0]?.cut.length ?? 0) < 400)
  await clock.advance(perMs)
  broken('other')
  broken('loud')
  broken('loud')
  const told = lines.slice(-3).map(({ cluster, omitted }) => [cluster, omitted])
  assert.deepEqual(told, [
    ['other', undefined],
    ['loud', 5],
    ['loud', undefined],
  ])
})
