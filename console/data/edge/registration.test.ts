import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareFingerprint, undecided } from './registration.ts'

const signerName = 'kubernetes.io/kube-apiserver-client'

test('requests for agents’ certificates wait until somebody accepts or denies them', () => {
  const request = (name: string, type?: string, signer = signerName) => ({
    metadata: { name },
    spec: { signerName: signer },
    status: { conditions: type === undefined ? [] : [{ type }] },
  })
  const requests = [
    request('c'),
    request('a', 'Failed'),
    request('b', 'Approved'),
    request('d', 'Denied'),
    request('e', undefined, 'kubernetes.io/kubelet-serving'),
  ]
  assert.deepEqual(undecided(requests), ['a', 'c'])
})

test('a fingerprint that was copied is compared without its frame', () => {
  const hex = 'ab'.repeat(32)
  const cases = [
    [hex, 'equal'],
    [` SHA256:${hex.toUpperCase()}\n`, 'equal'],
    [`key sha256:${hex}`, 'equal'],
    ['', 'empty'],
    [hex.slice(2), 'different'],
    [`${hex}0`, 'different'],
  ] as const
  for (const [copied, result] of cases) {
    assert.equal(compareFingerprint(`sha256:${hex}`, copied), result, copied)
  }
})
