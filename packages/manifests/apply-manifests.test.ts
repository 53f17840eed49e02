import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject, ConfigMap } from '@skerry/api'
import { ExpectedError, exitCodes, silentLogger, systemClock } from '@skerry/base'
import { createCluster, ifThere, resources, type ClusterClient } from '@skerry/client'
import { startTestApiServer } from '@skerry/testing'
import { applyManifests } from './apply-manifests.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)

interface Scene {
  readonly cluster: ClusterClient
  readonly lines: string[]
  readonly apply: (...objects: readonly object[]) => Promise<void>
  readonly get: (name: string) => Promise<ConfigMap | undefined>
}

async function inScene(act: (scene: Scene) => Promise<void>): Promise<void> {
  await using server = await startTestApiServer()
  const deps = { clock: systemClock, log: silentLogger, userAgent: 'test/1' }
  const cluster = createCluster(server.transport, deps)
  const lines: string[] = []
  await act({
    cluster,
    lines,
    apply: (...objects) =>
      applyManifests(
        // The cases hold objects of wrong shapes, as add-ons may have them.
        objects.map((object, at) => ({ place: `document ${at + 1}`, object: object as AnyObject })),
        { name: 'skerry-add-ons', manager: 'skerry-add-ons' },
        { cluster, clock: systemClock, print: (line) => void lines.push(line) },
        soon(),
      ),
    get: (name) =>
      ifThere(cluster.resource(resources.configMaps).get({ namespace: 'default', name }, soon())),
  })
}

const configMap = (name: string, data: object = { a: 'b' }): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
})

test('objects are applied, changed, and removed when no manifest has them any more', async () => {
  await inScene(async ({ apply, get, lines }) => {
    await apply(configMap('one'), configMap('two'))
    await apply(configMap('one', { a: 'c' }))
    assert.deepEqual((await get('one'))?.data, { a: 'c' })
    assert.equal(await get('two'), undefined)
    assert.deepEqual(lines.slice(-3), [
      'applied ConfigMap default/one',
      'removed ConfigMap default/two',
      '1 objects are applied, 1 were removed',
    ])
    await apply()
    assert.equal(await get('one'), undefined)
  })
})

test('an object that somebody else had made is applied, and stays when its manifest goes', async () => {
  await inScene(async ({ cluster, apply, get }) => {
    const foreign = {
      ...configMap('foreign', { own: 'x' }),
      metadata: { name: 'foreign', namespace: 'default' },
    }
    await cluster.resource(resources.configMaps).create(foreign as ConfigMap, soon())
    await apply(configMap('foreign'))
    assert.deepEqual((await get('foreign'))?.data, { own: 'x', a: 'b' })
    await apply()
    assert.ok(await get('foreign'))
  })
})

test('a kind and an object of it come together, and go together', async () => {
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'cells.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'cells', singular: 'cell', kind: 'Cell', listKind: 'CellList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          },
        },
      ],
    },
  }
  const cell = { apiVersion: 'example.com/v1', kind: 'Cell', metadata: { name: 'a' }, size: 3 }
  await inScene(async ({ apply, lines }) => {
    await apply(definition, cell)
    assert.ok(lines.includes('applied Cell default/a'))
    await apply()
    assert.match(lines.at(-1) ?? '', /2 were removed/)
  })
})

const wrong: readonly [string, object, RegExp][] = [
  [
    'a namespace where there are none',
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a', namespace: 'b' } },
    /document 1: Namespace b\/a: its kind has no namespaces/,
  ],
  ['a name that is none', configMap('Not_A_Name'), /document 1: ConfigMap default\/Not_A_Name: /],
]
for (const [what, object, why] of wrong) {
  test(`${what} is an error of the writer that names the document`, async () => {
    await inScene(async ({ apply }) => {
      await assert.rejects(apply(object), (error) => {
        assert.ok(error instanceof ExpectedError, String(error))
        assert.equal(error.exitCode, exitCodes.usage)
        assert.match(error.message, why)
        return true
      })
    })
  })
}

test('a call that broke off is finished by the next one, and objects of the first are removed', async () => {
  await inScene(async ({ apply, get }) => {
    await assert.rejects(apply(configMap('one'), configMap('Not_A_Name')))
    assert.ok(await get('one'))
    await apply(configMap('two'))
    assert.equal(await get('one'), undefined)
    assert.ok(await get('two'))
  })
})
