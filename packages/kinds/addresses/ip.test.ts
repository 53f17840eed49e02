import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  cidrText,
  includesCidr,
  includesIp,
  ipText,
  isMappedIp,
  networkOf,
  parseCidr,
  parseIp,
  parseLooseCidr,
  parseLooseIp,
} from './ip.ts'

const shown = (bytes: Uint8Array | undefined): string | undefined => bytes && ipText(bytes)

/** The canonical text of an address; undefined if it is refused. */
const spellings: [text: string, strict: string | undefined, loose: string | undefined][] = [
  ['10.1.2.3', '10.1.2.3', '10.1.2.3'],
  ['0.0.0.0', '0.0.0.0', '0.0.0.0'],
  ['010.001.0.3', undefined, '10.1.0.3'],
  ['10.1.2', undefined, undefined],
  ['10.1.2.256', undefined, undefined],
  ['10.1.2.3.4', undefined, undefined],
  ['0x7f.0.0.1', undefined, undefined],
  [' 10.1.2.3', undefined, undefined],
  ['', undefined, undefined],
  ['::', '::', '::'],
  ['::1', '::1', '::1'],
  ['2001:DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1', '2001:db8::1:0:0:1'],
  ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
  ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0', '1:2:3:4:5:6:7:0'],
  ['::ffff:10.1.2.3', '::ffff:a01:203', '::ffff:a01:203'],
  ['::ffff:010.1.2.3', undefined, '::ffff:a01:203'],
  ['1:2:3:4:5:6:10.1.2.3', '1:2:3:4:5:6:a01:203', '1:2:3:4:5:6:a01:203'],
  ['1:2:3:4:5:6:7:10.1.2.3', undefined, undefined],
  ['10.1.2.3::', undefined, undefined],
  ['10.1.2.3::1', undefined, undefined],
  ['1:2:3:4:5:6:7:8::', undefined, undefined],
  ['1:2:3:4:5:6:7', undefined, undefined],
  ['1:2:3:4:5:6:7:8:9', undefined, undefined],
  ['1::2::3', undefined, undefined],
  [':::', undefined, undefined],
  [':1:2:3:4:5:6:7:8', undefined, undefined],
  ['::12345', undefined, undefined],
  ['fe80::1%eth0', undefined, undefined],
]

for (const [text, strict, loose] of spellings) {
  test(`the address ${JSON.stringify(text)}`, () => {
    assert.equal(shown(parseIp(text)), strict)
    assert.equal(shown(parseLooseIp(text)), loose)
  })
}

const networks: [text: string, strict: string | undefined, loose: string | undefined][] = [
  ['10.1.2.3/8', '10.1.2.3/8', '10.1.2.3/8'],
  ['10.0.0.0/08', undefined, '10.0.0.0/8'],
  ['010.0.0.0/8', undefined, '10.0.0.0/8'],
  ['10.0.0.0/0', '10.0.0.0/0', '10.0.0.0/0'],
  ['10.0.0.0/33', undefined, undefined],
  ['fd00::/128', 'fd00::/128', 'fd00::/128'],
  ['fd00::/129', undefined, undefined],
  ['10.0.0.0', undefined, undefined],
  ['10.0.0.0/', undefined, undefined],
  ['10.0.0.0/8/8', undefined, undefined],
  ['/8', undefined, undefined],
]

for (const [text, strict, loose] of networks) {
  test(`the network ${JSON.stringify(text)}`, () => {
    const [read, readLoosely] = [parseCidr(text), parseLooseCidr(text)]
    assert.equal(read && cidrText(read), strict)
    assert.equal(readLoosely && cidrText(readLoosely), loose)
  })
}

const inside: [outer: string, address: string, bits: number, isInside: boolean][] = [
  ['10.0.0.0/8', '10.255.0.1', 32, true],
  ['10.9.9.9/8', '10.255.0.1', 32, true],
  ['10.0.0.0/8', '11.0.0.1', 32, false],
  ['10.128.0.0/9', '10.127.255.255', 32, false],
  ['0.0.0.0/0', '192.0.2.1', 32, true],
  ['10.0.0.0/8', '10.0.0.0', 8, true],
  ['10.0.0.0/8', '10.0.0.0', 7, false],
  ['::/0', '10.0.0.1', 32, false],
  ['2001:db8::/33', '2001:db8:7fff::1', 128, true],
  ['2001:db8::/33', '2001:db8:8000::1', 128, false],
]

for (const [outer, address, bits, isInside] of inside) {
  test(`${outer} ${isInside ? 'contains' : 'does not contain'} ${address}/${bits}`, () => {
    const [network, inner] = [parseCidr(outer), parseCidr(`${address}/${bits}`)]
    assert.ok(network && inner)
    assert.equal(includesCidr(network, inner), isInside)
    if (bits >= network.bits) assert.equal(includesIp(network, inner.bytes), isInside)
  })
}

test('the first address of a network has no bits behind the prefix', () => {
  const first = (text: string) =>
    shown(networkOf(parseCidr(text) ?? { bytes: new Uint8Array(0), bits: 0 }))
  assert.equal(first('10.255.255.255/12'), '10.240.0.0')
  assert.equal(first('2001:db8:ffff::1/33'), '2001:db8:8000::')
})

test('an IPv4 address that is written as IPv6 is known', () => {
  const isMapped = (text: string) => isMappedIp(parseIp(text) ?? new Uint8Array(0))
  assert.equal(isMapped('::ffff:10.0.0.1'), true)
  assert.equal(isMapped('::fffe:10.0.0.1'), false)
  assert.equal(isMapped('10.0.0.1'), false)
})
