import assert from 'node:assert/strict'
import { test } from 'node:test'
import { webhookTarget } from './webhook-target.ts'

test('webhook paths are requested without doubled and trailing slashes', () => {
  const paths = [
    ['//check', '/check'],
    ['/a//b/', '/a/b'],
    ['/', '/'],
    ['', '/'],
    ['/check', '/check'],
  ] as const
  for (const [given, asked] of paths) {
    const byUrl = webhookTarget({ url: `https://127.0.0.1:9443${given}` })
    const byService = webhookTarget({ service: { namespace: 'a', name: 'b', path: given } })
    assert.deepEqual([byUrl.url.pathname, byService.url.pathname], [asked, asked], given)
  }
})
