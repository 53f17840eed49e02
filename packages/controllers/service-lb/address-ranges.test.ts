import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWithin, parseAddressRanges } from './address-ranges.ts'

test('ranges are written by their last number, their last address or a prefix', () => {
  const expected = ['192.168.7.240', '192.168.7.241', '192.168.7.242', '192.168.7.243']
  for (const text of ['192.168.7.240-243', '192.168.7.240-192.168.7.243', '192.168.7.240/30']) {
    assert.deepEqual(parseAddressRanges(text), expected)
  }
  assert.deepEqual(parseAddressRanges('192.168.7.5, 192.168.7.9-9,192.168.7.5'), [
    '192.168.7.5',
    '192.168.7.9',
  ])
})

test('a text that is not a range is refused with the reason', () => {
  const table: readonly (readonly [string, RegExp])[] = [
    ['', /"" is not a range of IPv4 addresses/],
    ['nodes2', /is not a range/],
    ['192.168.7.240-256', /is not a range/],
    ['192.168.7/24', /is not a range/],
    ['2001:db8::1', /is not a range/],
    ['192.168.7.250-240', /ends before it begins/],
    ['10.0.0.0/8', /more than 1024 addresses/],
  ]
  for (const [text, reason] of table) assert.throws(() => parseAddressRanges(text), reason)
})

test('an address is within a network by its bits', () => {
  assert.equal(isWithin('192.168.7.240', '192.168.7.11/24'), true)
  assert.equal(isWithin('192.168.8.1', '192.168.7.11/24'), false)
  assert.equal(isWithin('192.168.7.240', ''), false)
})
