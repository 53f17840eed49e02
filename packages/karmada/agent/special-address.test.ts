import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSpecialAddress, sameAddress } from './special-address.ts'

test('no service leads to the machine, its link, groups or the secrets of clouds', () => {
  const special = [
    '127.0.0.1',
    '127.255.255.254',
    '0.0.0.0',
    '169.254.169.254',
    '224.0.0.1',
    '255.255.255.255',
    '100.100.100.200',
    '192.0.0.192',
    '::',
    '::1',
    '0:0:0:0:0:0:0:1',
    'fe80::1',
    'fe80::1%eth0',
    'ff02::1',
    'fd00:ec2::254',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:a9fe:a9fe',
    '127.1',
    '0x7f000001',
    '2130706433',
    'localhost',
    '',
  ]
  for (const address of special) assert.equal(isSpecialAddress(address), true, address)
  const ordinary = ['10.42.0.7', '192.168.1.1', '192.0.2.2', '::ffff:10.42.0.7', 'fd00:42::7']
  for (const address of ordinary) assert.equal(isSpecialAddress(address), false, address)
})

test('one address is the same however it is written', () => {
  const table: [one: string, other: string, isSame: boolean][] = [
    ['10.0.0.1', '10.0.0.1', true],
    ['10.0.0.1', '::ffff:10.0.0.1', true],
    ['fd00::1', 'fd00:0:0::1', true],
    ['10.0.0.1', '10.0.0.2', false],
    ['10.0.0.1', 'node-1', false],
  ]
  for (const [one, other, isSame] of table) assert.equal(sameAddress(one, other), isSame, other)
})
