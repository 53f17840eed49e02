import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEnvironment, jsonOfValue } from '@skerry/cel'
import { cidrLibrary, ipLibrary } from './address-library.ts'

const environment = createEnvironment({ variables: {}, libraries: [cidrLibrary, ipLibrary] })

const table: readonly (readonly [text: string, expected: unknown])[] = [
  ['cidr("10.0.0.0/8").containsIP("10.1.2.3") && ip("::1").isLoopback()', true],
  ['cidr("192.168.1.7/24").masked() == cidr("192.168.1.0/24")', true],
  ['cidr("10.0.0.0/8").containsCIDR("10.1.0.0/16")', true],
  ['cidr("10.1.0.0/16").containsCIDR("10.0.0.0/8")', false],
  ['string(cidr("fd00:0::1/64").masked())', 'fd00::/64'],
  ['cidr("fd00::1/64").prefixLength()', 64],
  ['ip("::1").family()', 6],
  ['isIP("10.01.2.3")', false],
  ['isIP("::ffff:10.1.2.3")', false],
  ['isCIDR("10.0.0.0/08")', false],
  ['ip.isCanonical("2001:DB8::1")', false],
  ['ip("169.254.1.1").isLinkLocalUnicast()', true],
  ['ip("ff02::1").isLinkLocalMulticast()', true],
  ['ip("255.255.255.255").isGlobalUnicast()', false],
  ['ip("10.0.0.1").isGlobalUnicast()', true],
  ['ip("::").isUnspecified()', true],
]

for (const [text, expected] of table) {
  test(`${text} is ${String(expected)}`, () => {
    assert.deepEqual(jsonOfValue(environment.compile(text).evaluate({}).value), expected)
  })
}
