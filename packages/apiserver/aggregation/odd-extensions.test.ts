import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { systemClock, seededRandom, silentLogger, simulatedClock, systemRandom } from '@skerry/base'
import {
  oddJsonAnswers,
  says,
  startRawPeer,
  tryOddAnswers,
  webhookCertificate,
  type OddJsonOptions,
  type RawPeer,
  type Told,
} from '@skerry/testing'
import { ObjectTable } from '../testing/object-table.ts'
import { wellKnown } from '../contract/well-known-resources.ts'
import { checkExtension } from './check-extension.ts'
import type { ExtensionCallDeps } from './extension-server.ts'
import { apiServices } from './local-registrations.ts'
import { mergeAggregated, mergeGroups } from './merge-discovery.ts'
import { createRemoteOpenApi } from './remote-open-api.ts'

/** An extension server describes its own API. An odd description must not affect other groups. */
const seed = 20_261_134
const signal = new AbortController().signal
const objects = new ObjectTable()
const server = {
  service: { namespace: 'shop', name: 'widgets', port: 443 },
  authorityPem: undefined,
  isUnchecked: true,
}

let peer: RawPeer
let calls: ExtensionCallDeps

before(async () => {
  const tls = await webhookCertificate()
  peer = await startRawPeer(says(''), { tls })
  const identity = { certificatePem: tls.cert, privateKeyPem: tls.key }
  calls = {
    objects,
    clock: systemClock,
    random: systemRandom,
    identity: () => identity,
    dial: {
      async dialAddress() {
        const socket = connect(peer.port, '127.0.0.1')
        await once(socket, 'connect')
        return socket
      },
    },
  }
  objects.put(wellKnown.services, {
    metadata: { name: 'widgets', namespace: 'shop' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  })
  objects.put(apiServices, {
    metadata: { name: 'v1.widgets.example.com' },
    spec: {
      group: 'widgets.example.com',
      version: 'v1',
      service: server.service,
      insecureSkipTLSVerify: true,
    },
    status: { conditions: [{ type: 'Available', status: 'True' }] },
  })
})

after(() => peer[Symbol.dispose]())

const widgets = {
  name: 'widgets',
  singularName: 'widget',
  namespaced: true,
  kind: 'Widget',
  verbs: ['get', 'list'],
  shortNames: ['w'],
  categories: ['all'],
}
const resources = [widgets, { ...widgets, name: 'widgets/status', verbs: ['get'] }]
const documents: Readonly<Record<string, object>> = {
  '/apis/widgets.example.com/v1': {
    kind: 'APIResourceList',
    groupVersion: 'widgets.example.com/v1',
    resources,
  },
  '/openapi/v2': {
    paths: { '/apis/widgets.example.com/v1/widgets': { get: { responses: {} } } },
    definitions: { Widget: { type: 'object', properties: { a: { type: 'string' } } } },
  },
}
const right = (head: string): string => JSON.stringify(documents[head.split(' ')[1] ?? ''] ?? {})
const options: OddJsonOptions = {
  mutations: 120,
  rounds: 20,
  failures: ['307', '404', '503'],
}

test(`odd discovery from an extension server leaves other groups unchanged (seed ${seed})`, async () => {
  const own = {
    metadata: { name: 'apps' },
    versions: [{ version: 'v1', resources: [], freshness: 'Current' as const }],
  }
  const ask = async (): Promise<Told> => {
    const group = { group: 'widgets.example.com', version: 'v1' }
    const found = await checkExtension(server, group, calls, signal)
    if (found.availability.status !== 'True') return { error: found.availability.message }
    const priorities = { groupPriority: 1, versionPriority: 1, isCurrent: true }
    const extras = [{ ...group, ...priorities, resources: found.resources }]
    const list = {
      kind: 'APIGroupDiscoveryList',
      apiVersion: 'apidiscovery.k8s.io/v2',
      metadata: {},
    } as const
    const merged = mergeAggregated({ ...list, items: [own] }, extras)
    mergeGroups([], extras)
    checkDiscovery(merged.items)
    // An answer without a resource list announces nothing.
    return { value: found.resources === undefined ? undefined : merged.items }
  }
  const names = /widgets\.shop\.svc|https:\/\/localhost:443/
  const trial = { peer, right, ask, names, bytesMax: 5 * 1024 * 1024 }
  const answers = [...oddJsonAnswers(seededRandom(seed), options)]
  await tryOddAnswers(
    trial,
    answers.map((answer) => ({ ...answer, isNone: false })),
  )
})

/** Checks the types of all fields: Go clients reject the document if one is wrong. */
function checkDiscovery(items: readonly object[]): void {
  const isText = (value: unknown): boolean => typeof value === 'string'
  for (const { versions } of JSON.parse(JSON.stringify(items))) {
    for (const { resources: announced } of versions) {
      for (const {
        resource,
        scope,
        verbs,
        shortNames = [],
        categories = [],
        subresources = [],
        singularResource,
      } of announced) {
        assert.ok([resource, scope, singularResource].every(isText))
        for (const texts of [
          verbs,
          shortNames,
          categories,
          ...subresources.map((each: typeof widgets) => each.verbs),
        ]) {
          assert.ok(Array.isArray(texts) && texts.every(isText), JSON.stringify(texts))
        }
      }
    }
  }
}

test(`odd descriptions from an extension server are left out (seed ${seed})`, async () => {
  const openApi = createRemoteOpenApi({
    objects,
    calls,
    clock: simulatedClock(),
    log: silentLogger,
  })
  const ask = async (): Promise<Told> => {
    const [part] = await openApi.v2Parts(signal)
    // These entries share a document with the entries of all other groups.
    for (const each of Object.values({ ...part?.paths, ...part?.definitions })) {
      assert.equal(typeof JSON.parse(JSON.stringify(each)), 'object')
      assert.notEqual(each, null)
    }
    return part ? { value: part } : { error: 'no part' }
  }
  const trial = { peer, right, ask, names: /^no part$/, bytesMax: 20 * 1024 * 1024 }
  await tryOddAnswers(trial, oddJsonAnswers(seededRandom(seed), options))
})
