import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyNoMachine } from './unfit-addresses.ts'

const unfit = [
  '127.0.0.1',
  '127.255.1.2',
  '0.0.0.0',
  '0.1.2.3',
  '169.254.169.254',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  'fe80::1',
  'ff02::1',
  'fd00:ec2::254',
  '::ffff:127.0.0.1',
  '::ffff:169.254.169.254',
  '100.100.100.200',
  '64:ff9b::127.0.0.1',
  'localhost',
  'a.localhost',
]
for (const address of unfit) {
  test(`${address} is refused as the address of a machine`, () => assert.ok(whyNoMachine(address)))
}

const fit = [
  '10.0.0.1',
  '128.0.0.1',
  '192.168.1.1',
  '169.253.1.1',
  '223.1.1.1',
  '1.0.0.1',
  '2001:db8::1',
  'fd12::1',
  '::ffff:10.0.0.1',
  'localhost.example.com',
  'shop-7',
]
for (const address of fit) {
  test(`${address} may be a machine's address`, () =>
    assert.equal(whyNoMachine(address), undefined))
}
