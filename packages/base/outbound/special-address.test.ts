import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressKind, sameAddress, type AddressKind } from './special-address.ts'

const kinds: Readonly<Record<AddressKind, readonly string[]>> = {
  local: [
    '127.0.0.1',
    '127.255.255.254',
    '0.0.0.0',
    '169.254.169.254',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '0:0:0:0:0:0:0:1',
    'fe80::1',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::FFFF:127.0.0.1',
    '0:0:0:0:0:ffff:7f00:1',
    '::ffff:a9fe:a9fe',
    '::127.0.0.1',
    '::7f00:1',
    '::ffff:0:127.0.0.1',
    '::ffff:0.0.0.0',
    '64:ff9b::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::a9fe:a9fe',
    '2002:7f00:1::',
    '2002:a9fe:a9fe::1',
  ],
  secrets: ['100.100.100.200', '168.63.129.16', 'fd00:ec2::254', '::ffff:100.100.100.200'],
  reserved: ['192.0.0.192', '240.0.0.1', '::ffff:240.0.0.1'],
  none: [
    'fe80::1%eth0',
    '::1%lo',
    '127.1',
    '0x7f000001',
    '2130706433',
    '0177.0.0.1',
    'localhost',
    '',
  ],
  ordinary: [
    '10.42.0.7',
    '192.168.1.1',
    '192.0.2.2',
    '::ffff:10.42.0.7',
    'fd00:42::7',
    '64:ff9b::10.42.0.7',
    '2002:a2a:7::1',
    '2001:db8::7f00:1',
  ],
}
test('an address leads to the machine, its link, groups or secrets however it is written', () => {
  for (const [kind, addresses] of Object.entries(kinds)) {
    for (const address of addresses) assert.equal(addressKind(address), kind, address)
  }
})

test('one address is the same however it is written', () => {
  const table: [one: string, other: string, isSame: boolean][] = [
    ['10.0.0.1', '10.0.0.1', true],
    ['10.0.0.1', '::ffff:10.0.0.1', true],
    ['fd00::1', 'fd00:0:0::1', true],
    ['fd00::a', 'FD00:0:0:0:0:0:0:000a', true],
    ['10.0.0.1', '::ffff:a00:1', true],
    ['10.0.0.1', '0:0:0:0:0:ffff:10.0.0.1', true],
    ['10.0.0.1', '64:ff9b::10.0.0.1', true],
    ['10.0.0.1', '64:ff9b:1::a00:1', true],
    ['10.0.0.1', '2002:a00:1::7', true],
    ['::ffff:10.0.0.1', '64:ff9b::10.0.0.1', true],
    ['10.0.0.1', '10.0.0.2', false],
    ['10.0.0.1', '::ffff:10.0.0.2', false],
    ['fd00::1', 'fd00::2', false],
    ['fe80::1', 'fe80::1%eth0', false],
    ['node-1', 'node-1', true],
    ['10.0.0.1', 'node-1', false],
  ]
  for (const [one, other, isSame] of table) assert.equal(sameAddress(one, other), isSame, other)
})
