import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConfigMap } from '@skerry/api'
import { linkedSignal, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { createCluster, createInformer, resources } from '@skerry/client'
import { startTestApiServer } from '@skerry/testing'
import { NamespaceInformer } from './namespace-informer.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'test' }
const soon = (): AbortSignal => AbortSignal.timeout(60_000)

function settings(namespace: string, name: string, colour: string): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data: { colour } }
}

test('an informer of all namespaces shows one of them, with indexes that follow its objects', async () => {
  await using server = await startTestApiServer({ namespaces: ['east', 'west'] })
  const client = createCluster(server.transport, deps).resource(resources.configMaps)
  const stop = linkedSignal(soon())
  const all = createInformer(client, {}, deps)
  const running = all.run(stop.signal).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error
  })
  await all.whenSynced(soon())
  const write = async (object: ConfigMap) => all.recordWrite(await client.create(object, soon()))
  await write(settings('east', 'a', 'red'))
  await write(settings('west', 'a', 'red'))
  using east = new NamespaceInformer(all, 'east')
  const heard: string[] = []
  using _listening = east.onChange(({ type, object }) =>
    heard.push(`${type} ${object.metadata.namespace}`),
  )
  east.addIndex('colour', ({ data }) => [data?.['colour'] ?? ''])
  const named = (colour: string) =>
    east
      .byIndex('colour', colour)
      .map(({ metadata: { namespace, name } }) => `${namespace}/${name}`)
  assert.deepEqual(named('red'), ['east/a'])
  assert.equal(east.list().length, 1)
  assert.deepEqual(east.list('west'), [])
  assert.equal(east.get({ namespace: 'west', name: 'a' }), undefined)
  await write(settings('east', 'b', 'red'))
  await write(settings('west', 'b', 'red'))
  const patch = { data: { colour: 'blue' } }
  const request = { namespace: 'east', name: 'a', type: 'merge', patch } as const
  all.recordWrite(await client.patch(request, soon()))
  assert.deepEqual([named('red'), named('blue')], [['east/b'], ['east/a']])
  all.recordDelete(await client.delete({ namespace: 'east', name: 'b' }, soon()))
  assert.deepEqual(named('red'), [])
  assert.deepEqual(heard, ['added east', 'added east', 'updated east', 'deleted east'])
  stop.abort(new Error('the test is over'))
  await running
})
