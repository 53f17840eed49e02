import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvalidArgumentError } from 'commander'
import { toBitsPerSecond, toInterface, toNetns, toPercent, toSpanMs } from './link-flags.ts'

test('times, shares, rates and names of links are read as people write them', () => {
  assert.equal(toSpanMs('150ms'), 150)
  assert.equal(toSpanMs('5m'), 300_000)
  assert.equal(toPercent('2.5%'), 2.5)
  assert.equal(toPercent('100'), 100)
  assert.equal(toBitsPerSecond('256kbit'), 256_000)
  assert.equal(toBitsPerSecond('1.5mbit'), 1_500_000)
  assert.equal(toInterface('eth0.100'), 'eth0.100')
  assert.equal(toNetns('edge-1'), 'edge-1')
  for (const [read, text] of [
    [toSpanMs, '5'],
    [toSpanMs, '48h'],
    [toPercent, '101%'],
    [toPercent, '-1'],
    [toBitsPerSecond, '1'],
    [toBitsPerSecond, '5kbit'],
    [toInterface, 'eth0; reboot'],
    [toInterface, 'a-name-that-is-too-long'],
    [toInterface, 'eth"0'],
    [toNetns, '../etc'],
    [toNetns, '-h'],
  ] as const) {
    assert.throws(() => read(text), InvalidArgumentError, text)
  }
})
