import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger, systemClock, systemRandom } from '@skerry/base'
import { createCluster, type Transport } from '@skerry/client'
import type { Work } from '@skerry/karmada-kinds'
import { asTheyAre } from './manifest-mapping.ts'
import { MemberCluster } from './member-cluster.ts'
import { takeWork } from './take-work.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'test' }
const soon = (): AbortSignal => AbortSignal.timeout(120_000)

/** Returns a cluster whose discovery lists only these groups, which come from an aggregated server that is unreachable. */
function memberWith(groups: readonly string[]): MemberCluster {
  const items = groups.map((name) => ({
    metadata: { name },
    versions: [{ version: 'v1', freshness: 'Stale' }],
  }))
  const transport: Transport = {
    async send({ path }) {
      const list = { kind: 'APIGroupDiscoveryList', items: path === '/apis' ? items : [] }
      const body = new TextEncoder().encode(JSON.stringify(list))
      return {
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: (async function* () {
          yield body
        })(),
      }
    },
  }
  return new MemberCluster(createCluster(transport, deps), deps)
}

const work: Work = {
  apiVersion: 'work.karmada.io/v1alpha1',
  kind: 'Work',
  metadata: { namespace: 'karmada-es-shop', name: 'valve' },
  spec: {
    workload: {
      manifests: [
        {
          apiVersion: 'example.com/v1',
          kind: 'Valve',
          metadata: { namespace: 'default', name: 'main' },
        },
      ],
    },
  },
}

test('an object is gone with its kind, and not while the server of the kind is away', async () => {
  const taken = (member: MemberCluster) =>
    takeWork({ clusterName: 'shop', member, mapping: asTheyAre }, work, soon())
  assert.equal(await taken(memberWith([])), true)
  assert.equal(await taken(memberWith(['other.example.com'])), true)
  await assert.rejects(taken(memberWith(['example.com'])), {
    reason: 'ServiceUnavailable',
    message: 'Cannot find kind "Valve": the server of example.com/v1 does not answer',
  })
})
