import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseProxyHeader, ProxyHeaderError } from './proxy-header.ts'
import { trustedProxies } from './proxied-connections.ts'

const signature = Buffer.from('0d0a0d0a000d0a515549540a', 'hex')
const ipv4 = Buffer.from('cb007107c0000201dead01bb', 'hex')
const ipv6 = Buffer.from(
  '20010db8000000000000000000000007' + '20010db8000000000000000000000001' + 'dead01bb',
  'hex',
)

function binary(command: number, family: number, content: Buffer, length = content.length): Buffer {
  const head = Buffer.from([command, family, length >> 8, length & 255])
  return Buffer.concat([signature, head, content])
}

const line = (text: string): Buffer => Buffer.from(`${text}\r\n`, 'latin1')
const tail = Buffer.from([0x16, 0x03, 0x01])

const good: readonly (readonly [string, Buffer, string | undefined])[] = [
  ['line, IPv4', line('PROXY TCP4 203.0.113.7 192.0.2.1 57005 443'), '203.0.113.7'],
  ['line, IPv6', line('PROXY TCP6 2001:DB8:0::7 2001:db8::1 57005 443'), '2001:db8::7'],
  ['line, unknown', line('PROXY UNKNOWN'), undefined],
  ['line, unknown and more', line('PROXY UNKNOWN ffff::1 what ever'), undefined],
  ['binary, IPv4', binary(0x21, 0x11, ipv4), '203.0.113.7'],
  ['binary, IPv6', binary(0x21, 0x21, ipv6), '2001:db8::7'],
  [
    'binary, further fields',
    binary(0x21, 0x11, Buffer.concat([ipv4, Buffer.alloc(99)])),
    '203.0.113.7',
  ],
  ['binary, local', binary(0x20, 0x00, Buffer.alloc(0)), undefined],
  ['binary, local with addresses', binary(0x20, 0x11, ipv4), undefined],
  ['binary, unknown family', binary(0x21, 0x00, Buffer.alloc(7)), undefined],
]

test('a PROXY header says where a connection comes from, wherever it is cut into pieces', () => {
  for (const [name, bytes, address] of good) {
    for (let length = 0; length < bytes.length; length += 1) {
      assert.deepEqual(parseProxyHeader(bytes.subarray(0, length)), { isWhole: false }, name)
    }
    const read = parseProxyHeader(Buffer.concat([bytes, tail]))
    const said = address === undefined ? {} : { address }
    assert.deepEqual(read, { isWhole: true, bytes: bytes.length, ...said }, name)
  }
})

const bad: readonly (readonly [string, Buffer])[] = [
  ['TLS', Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00])],
  ['HTTP', Buffer.from('GET / HTTP/1.1\r\n')],
  ['another case', line('proxy TCP4 203.0.113.7 192.0.2.1 1 2')],
  ['no family', line('PROXY')],
  ['UDP', line('PROXY UDP4 203.0.113.7 192.0.2.1 1 2')],
  ['a name', line('PROXY TCP4 localhost 192.0.2.1 1 2')],
  ['IPv6 called IPv4', line('PROXY TCP4 ::1 192.0.2.1 1 2')],
  ['IPv4 called IPv6', line('PROXY TCP6 203.0.113.7 2001:db8::1 1 2')],
  ['a zone', line('PROXY TCP6 fe80::1%eth0 2001:db8::1 1 2')],
  ['octal', line('PROXY TCP4 010.0.0.1 192.0.2.1 1 2')],
  ['too large a port', line('PROXY TCP4 203.0.113.7 192.0.2.1 65536 2')],
  ['a port with a zero', line('PROXY TCP4 203.0.113.7 192.0.2.1 01 2')],
  ['two spaces', line('PROXY TCP4  203.0.113.7 192.0.2.1 1 2')],
  ['a field too many', line('PROXY TCP4 203.0.113.7 192.0.2.1 1 2 3')],
  ['a line feed alone', Buffer.from('PROXY TCP4 203.0.113.7 192.0.2.1 1 2\nGET / HTTP/1.1\r\n')],
  ['a line without end', Buffer.from(`PROXY UNKNOWN ${'x'.repeat(200)}`)],
  ['version 3', binary(0x31, 0x11, ipv4)],
  ['an unknown command', binary(0x22, 0x11, ipv4)],
  ['datagrams', binary(0x21, 0x12, ipv4)],
  ['a socket of the machine', binary(0x21, 0x31, Buffer.alloc(216))],
  ['addresses cut off', binary(0x21, 0x11, ipv4.subarray(0, 11))],
  ['IPv6 in the room of IPv4', binary(0x21, 0x21, ipv4)],
  ['64 KiB announced', binary(0x21, 0x11, ipv4, 65_535)],
]

test('data that is not a PROXY header is refused, and is not waited for', () => {
  for (const [name, bytes] of bad) {
    assert.throws(() => parseProxyHeader(bytes), ProxyHeaderError, name)
  }
})

test('proxies are trusted by their own address or range, and no range means everybody', () => {
  const proxies = trustedProxies(['10.1.0.0/24', '192.0.2.9', '2001:db8:1::/48'])
  const trusted = ['10.1.0.255', '::ffff:10.1.0.1', '192.0.2.9', '2001:db8:1:2::3']
  const others = ['10.1.1.0', '192.0.2.8', '2001:db8:2::1', '::ffff:10.2.0.1', '', 'proxy']
  assert.deepEqual(
    [...trusted, ...others].filter((address) => proxies.has(address)),
    trusted,
  )
  for (const range of ['0.0.0.0/0', '::/0', '10.0.0.0/33', '10.0.0/8', 'proxy.example', '']) {
    assert.throws(() => trustedProxies([range]), { name: 'RangeError' }, range)
  }
})
