import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toClusterDomain } from './cluster-domain.ts'

test('a domain for clusters is one that clients can name, or the hub does not start', () => {
  assert.equal(toClusterDomain('clusters.example.com'), 'clusters.example.com')
  assert.equal(toClusterDomain('Clusters.Example.com.'), 'clusters.example.com')
  for (const text of [
    '*.example.com',
    '.example.com',
    'https://example.com',
    'example.com:7443',
    'example.com/clusters',
    'two words.com',
    'com',
    '',
  ]) {
    assert.throws(() => toClusterDomain(text), /write a DNS domain of two parts or more/, text)
  }
})
