import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isStatusError } from '@skerry/api'
import { simulatedClock } from '@skerry/base'
import { Downloads, type Download } from './downloads.ts'
import { programBounds } from './limits-table.ts'

const { atOnceMax, ofSourceMax, slowMs, awayMs } = programBounds.downloads
const isBusy = (error: unknown): boolean => isStatusError(error, 'TooManyRequests')

function start() {
  const clock = simulatedClock()
  const downloads = new Downloads(clock)
  const ended: string[] = []
  const begin = (address: string, name = address): Download =>
    downloads.begin(address, () => ended.push(name))
  return { clock, downloads, ended, begin }
}

test('one address has a share of the downloads, and another address is not refused for it', () => {
  const { begin, downloads, ended } = start()
  for (let at = 0; at < ofSourceMax; at++) begin('10.0.0.1')
  assert.throws(() => begin('10.0.0.1'), isBusy)
  begin('10.0.0.2')
  assert.equal(downloads.count, ofSourceMax + 1)
  assert.deepEqual(ended, [])
})

test('all addresses of one IPv6 network are one, and so are both spellings of an IPv4 address', () => {
  const { begin } = start()
  for (let at = 0; at < ofSourceMax; at++) begin(`2001:db8:1:2::${at + 1}`)
  assert.throws(() => begin('2001:db8:1:2:ffff::1%eth0'), isBusy)
  begin('2001:db8:1:3::1')
  for (let at = 0; at < ofSourceMax; at++) begin(at % 2 === 0 ? '10.0.0.1' : '::ffff:10.0.0.1')
  assert.throws(() => begin('10.0.0.1'), isBusy)
})

test('above the bound the slowest reader gives way, and readers that move are left alone', async () => {
  const { begin, clock, downloads, ended } = start()
  const running = Array.from({ length: atOnceMax }, (_, at) => begin(`10.0.0.${at}`))
  assert.throws(() => begin('10.1.0.1'), isBusy)
  await clock.advance(slowMs)
  for (const [at, download] of running.entries()) if (at !== 7) download.onPiece()
  begin('10.1.0.1')
  assert.deepEqual(ended, ['10.0.0.7'])
  assert.throws(() => begin('10.1.0.2'), isBusy)
  assert.equal(downloads.count, atOnceMax)
})

test('a reader that takes nothing is let go, and one that takes its time is not', async () => {
  const { begin, clock, downloads, ended } = start()
  begin('10.0.0.1', 'away')
  const slow = begin('10.0.0.2', 'slow')
  for (let round = 0; round < 5; round++) {
    await clock.advance(awayMs / 2)
    slow.onPiece()
  }
  assert.deepEqual(ended, ['away'])
  slow[Symbol.dispose]()
  slow.onPiece()
  assert.equal(downloads.count, 0)
  await clock.advance(awayMs * 2)
  assert.deepEqual(ended, ['away'])
})
