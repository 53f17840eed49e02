import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '@skerry/base'
import { parseSchedulerConfiguration } from './configuration.ts'
import type { Profile } from './profile.ts'
import { asking, node, place, pod } from './testing/scheduling-world.ts'

const header = { apiVersion: 'kubescheduler.config.k8s.io/v1', kind: 'KubeSchedulerConfiguration' }

async function profileOf(fields: object): Promise<Profile> {
  const { profiles } = await parseSchedulerConfiguration(
    { ...header, profiles: [fields] },
    { clock: systemClock },
  )
  const [first] = profiles
  assert.ok(first)
  return first
}

const half = pod({ ...asking({ cpu: '2', memory: '4Gi' }), nodeName: 'used' })
const world = { nodes: [node('empty'), node('used')], running: [half] }
const small = pod(asking({ cpu: '1', memory: '2Gi' }))

test('a profile may pack where the default spreads', async () => {
  const fit = { scoringStrategy: { type: 'MostAllocated' } }
  const packing = await profileOf({ pluginConfig: [{ name: 'NodeResourcesFit', args: fit }] })
  assert.equal(place(small, world), 'empty')
  assert.equal(place(small, world, packing), 'used')
})

test('a shape of the used share scores nodes', async () => {
  const fit = {
    scoringStrategy: {
      type: 'RequestedToCapacityRatio',
      requestedToCapacityRatio: {
        shape: [
          { utilization: 0, score: 0 },
          { utilization: 100, score: 10 },
        ],
      },
    },
  }
  const packing = await profileOf({ pluginConfig: [{ name: 'NodeResourcesFit', args: fit }] })
  assert.equal(place(small, world, packing), 'used')
})

test('an affinity can be added to every pod of a profile', async () => {
  const term = { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['used'] }] }
  const addedAffinity = {
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] },
  }
  const fenced = await profileOf({
    schedulerName: 'fenced',
    pluginConfig: [{ name: 'NodeAffinity', args: { addedAffinity } }],
  })
  assert.equal(fenced.schedulerName, 'fenced')
  assert.equal(place(small, world, fenced), 'used')
})

test('plugins are turned off and weighed', async () => {
  const { filters, scores, preempts } = await profileOf({
    plugins: {
      multiPoint: { disabled: [{ name: 'DefaultPreemption' }, { name: 'NodePorts' }] },
      score: {
        disabled: [{ name: '*' }],
        enabled: [{ name: 'NodeResourcesFit', weight: 7 }],
      },
    },
  })
  assert.equal(preempts, false)
  assert.ok(filters.every(({ name }) => name !== 'NodePorts'))
  assert.deepEqual(
    scores.map(({ plugin, weight }) => [plugin.name, weight]),
    [['NodeResourcesFit', 7]],
  )
})

const mistakes: { name: string; fields: object; message: RegExp }[] = [
  {
    name: 'an unknown plugin',
    fields: { profiles: [{ plugins: { filter: { enabled: [{ name: 'Mine' }] } } }] },
    message: /profiles\[0\]\.plugins\.filter: there is no plugin "Mine"/,
  },
  {
    name: 'two profiles of one name',
    fields: { profiles: [{}, {}] },
    message: /two have the schedulerName "default-scheduler"/,
  },
  {
    name: 'an extender without an address',
    fields: { extenders: [{ filterVerb: 'filter' }] },
    message: /extenders\.0\.urlPrefix: /,
  },
  {
    name: 'an extender whose scores weigh nothing',
    fields: { extenders: [{ urlPrefix: 'https://a', prioritizeVerb: 'prioritize' }] },
    message: /extenders\.0\.weight: must be positive where there is a prioritizeVerb/,
  },
  {
    name: 'two extenders that bind',
    fields: {
      extenders: [
        { urlPrefix: 'https://a', bindVerb: 'bind' },
        { urlPrefix: 'https://b', bindVerb: 'bind' },
      ],
    },
    message: /extenders: only one may bind/,
  },
  {
    name: 'an extender whose authority is not there',
    fields: { extenders: [{ urlPrefix: 'https://a', tlsConfig: { caFile: '/nowhere' } }] },
    message: /extenders: no file \/nowhere/,
  },
  {
    name: 'default constraints beside the system defaults',
    fields: {
      profiles: [
        {
          pluginConfig: [
            {
              name: 'PodTopologySpread',
              args: {
                defaultConstraints: [
                  { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' },
                ],
              },
            },
          ],
        },
      ],
    },
    message: /defaultConstraints: only with defaultingType List/,
  },
]

for (const { name, fields, message } of mistakes) {
  test(`a configuration is refused: ${name}`, async () => {
    await assert.rejects(
      parseSchedulerConfiguration({ ...header, ...fields }, { clock: systemClock }),
      message,
    )
  })
}
