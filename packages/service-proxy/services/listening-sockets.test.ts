import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSockets } from './listening-sockets.ts'

const head = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid'
const line = (local: string, state: string): string =>
  `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 1 1`

const table: readonly (readonly [what: string, local: string, state: string, found: object[]])[] = [
  ['a listener at all addresses', '00000000:0016', '0A', [{ port: 22, address: undefined }]],
  ['a listener at one address', '0B07A8C0:1F90', '0A', [{ port: 8080, address: '192.168.7.11' }]],
  ['a listener of the machine alone', '0100007F:1F90', '0A', []],
  ['a connection', '0B07A8C0:0016', '01', []],
  [
    'a listener of both families',
    '00000000000000000000000000000000:192B',
    '0A',
    [{ port: 6443, address: undefined }],
  ],
  [
    'a listener at an IPv4 address that IPv6 embeds',
    '0000000000000000FFFF00000B07A8C0:0050',
    '0A',
    [{ port: 80, address: '192.168.7.11' }],
  ],
  ['a listener at an IPv6 address', 'B80D0120000000000000000001000000:0050', '0A', []],
]

for (const [what, local, state, found] of table) {
  test(`${what} has ${found.length === 0 ? 'no port' : 'its port'}`, () => {
    assert.deepEqual(parseSockets(`${head}\n${line(local, state)}\n`, '0A'), found)
  })
}
