import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withLoopback } from './loopback-servers.ts'

test('a node on the machine of its control plane knows the loopback, also after the address has changed', () => {
  const [former, elsewhere, loopback] = [
    'https://10.0.0.5:6443',
    'https://10.0.0.9:6443',
    'https://127.0.0.1:6443',
  ]
  const table: [servers: string[], known: string[], own: string[], all: string[]][] = [
    [[elsewhere], [], ['127.0.0.1', '10.0.0.5'], [elsewhere]],
    [[former, elsewhere], [], ['127.0.0.1', '10.0.0.5'], [former, elsewhere, loopback]],
    [[former], [former, loopback], ['127.0.0.1', '10.7.7.7'], [former, loopback]],
    [['https://10.0.0.5'], [loopback], ['127.0.0.1', '10.7.7.7'], ['https://10.0.0.5']],
    [[loopback], [loopback], ['127.0.0.1'], [loopback]],
  ]
  for (const [servers, known, own, all] of table) {
    assert.deepEqual(withLoopback(servers, known, own), all, servers.join())
  }
})
