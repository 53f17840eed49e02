import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod, Secret, ServiceAccount } from '@skerry/api'
import { legacyTokenLabels, planLegacyTokens } from './legacy-token-plan.ts'

const namespace = 'default'
const nowMs = Date.parse('2026-06-15T12:00:00Z')
const account: ServiceAccount = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: 'web', namespace, uid: 'u1' },
  secrets: [{ name: 'web-token' }],
}

function token(change: Partial<Secret['metadata']>, type?: string): Secret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: type ?? 'kubernetes.io/service-account-token',
    metadata: {
      name: 'web-token',
      namespace,
      creationTimestamp: '2023-01-01T00:00:00Z',
      annotations: { 'kubernetes.io/service-account.name': 'web' },
      ...change,
    },
  }
}

function podWith(volume: object): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', namespace },
    spec: { containers: [{ name: 'main' }], volumes: [{ name: 'v', ...volume }] },
  }
}

function labelled(lastUsed?: string, invalidSince?: string): Secret {
  const labels = {
    ...(lastUsed === undefined ? {} : { [legacyTokenLabels.lastUsed]: lastUsed }),
    ...(invalidSince === undefined ? {} : { [legacyTokenLabels.invalidSince]: invalidSince }),
  }
  return token({ labels })
}

const otherUid = {
  'kubernetes.io/service-account.name': 'web',
  'kubernetes.io/service-account.uid': 'u2',
}
const projected = podWith({ projected: { sources: [{ secret: { name: 'web-token' } }] } })

const cases: {
  name: string
  secret: Secret
  becomes: 'marked' | 'removed' | 'kept'
  pods?: readonly Pod[]
  trackedSince?: string
}[] = [
  { name: 'never used', secret: token({}), becomes: 'marked' },
  { name: 'last used over a year ago', secret: labelled('2025-06-14'), becomes: 'marked' },
  { name: 'last used a year ago', secret: labelled('2025-06-15'), becomes: 'kept' },
  { name: 'a last use that is not a date', secret: labelled('soon'), becomes: 'kept' },
  { name: 'young', secret: token({ creationTimestamp: '2026-01-01T00:00:00Z' }), becomes: 'kept' },
  { name: 'of another type', secret: token({}, 'Opaque'), becomes: 'kept' },
  { name: 'being deleted', secret: token({ deletionTimestamp: '2026-06-01' }), becomes: 'kept' },
  { name: 'asked for by hand', secret: token({ name: 'mine' }), becomes: 'kept' },
  { name: 'of an account before', secret: token({ annotations: otherUid }), becomes: 'kept' },
  { name: 'mounted', secret: token({}), becomes: 'kept', pods: [projected] },
  { name: 'marked a year ago', secret: labelled(undefined, '2025-06-14'), becomes: 'removed' },
  { name: 'marked this year', secret: labelled(undefined, '2026-01-01'), becomes: 'kept' },
  { name: 'marked with no day', secret: labelled(undefined, 'no'), becomes: 'marked' },
  { name: 'not tracked', secret: token({}), becomes: 'kept', trackedSince: '' },
  {
    name: 'tracked for less than a year and a day',
    secret: token({}),
    becomes: 'kept',
    trackedSince: '2025-06-15',
  },
]

test("an account's automatic token is deleted when it is unused for long", async (t) => {
  for (const { name, secret, becomes, pods = [], trackedSince = '2024-01-01' } of cases) {
    await t.test(name, () => {
      const plan = planLegacyTokens({
        secrets: [secret],
        accounts: [account],
        pods,
        trackedSince,
        nowMs,
      })
      const became =
        plan.invalidate.length > 0 ? 'marked' : plan.remove.length > 0 ? 'removed' : 'kept'
      assert.equal(became, becomes)
    })
  }
})
