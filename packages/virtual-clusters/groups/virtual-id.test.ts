import assert from 'node:assert/strict'
import { test } from 'node:test'
import { virtualIdOf } from './virtual-id.ts'

test('an id is the UUIDv5 of RFC 9562 in the space of the edge cluster', () => {
  // The RFC's own example, appendix A.4: the space of DNS names.
  const dns = '6ba7b810-9dad-11d1-80b4-00c04fd430c8'
  assert.equal(virtualIdOf(dns, 'www.example.com'), '2ed6657d-e927-568b-95e1-2665a8aea6a2')
})
