import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ExpectedError } from '@skerry/base'
import { listenUrl } from './listen-urls.ts'
import { etcdOptionNames as names } from './option-names.ts'

const good: readonly (readonly [string, object])[] = [
  ['http://127.0.0.1:2379', { host: '127.0.0.1', port: 2379 }],
  ['http://[::1]:2379', { host: '::1', port: 2379 }],
  ['https://10.0.0.5:2379', { host: '10.0.0.5', port: 2379 }],
  ['unix:///run/etcd.sock', { path: '/run/etcd.sock' }],
]

for (const [url, address] of good) {
  test(`clients are served at ${url}`, () =>
    assert.deepEqual(listenUrl(url, names).address, address))
}

const bad = [
  'http://10.0.0.5:2379',
  'http://0.0.0.0:2379',
  'https://example.com:2379',
  'https://10.0.0.5',
  'https://10.0.0.5:99999',
  'tcp://127.0.0.1:2379',
  `unix:///run/${'long/'.repeat(21)}etcd.sock`,
  '',
]

for (const url of bad) {
  test(`"${url}" is refused as a place to listen`, () => {
    assert.throws(() => listenUrl(url, names), ExpectedError)
  })
}
