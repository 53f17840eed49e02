import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Step } from '../contract/step.ts'
import { edgeClusterAsks, type EdgeClusterSpec } from '../kind/edge-cluster.ts'
import { departure } from '../steps/departure-table.ts'
import { importRemoval, importSteps } from '../steps/import-steps-table.ts'
import { removal, steps } from '../steps/steps-table.ts'
import {
  blocksOf,
  EdgeScene,
  fifth,
  first,
  fourth,
  second,
  sixth,
  third,
} from '../testing/edge-scene.ts'
import { jobStories, type Story } from '../testing/job-stories.ts'
import type { Moment } from '../testing/step-story.ts'

const values = {
  'ConfigMap files/motd': 'welcome',
  'Secret proxy/username': 'eva',
  'Secret proxy/password': 'a password',
  'ConfigMap hooks/script': '#!/bin/sh',
  'ConfigMap addons/ingress.yaml': 'kind: ConfigMap',
}

/** Asks for everything that steps do, on three masters, a node, and a node that only the site reaches. */
const everything: EdgeClusterSpec = {
  machines: [
    ...blocksOf([first, second, third]),
    {
      addresses: [fourth],
      credentials: { name: 'ssh' },
      labels: { tier: 'front', shop: '7' },
      taints: [{ key: 'video', value: 'yes', effect: 'NoSchedule' }],
    },
    { addresses: [fifth], credentials: { name: 'ssh' }, via: 'Site' },
  ],
  store: { type: 'Etcd' },
  highAvailability: { type: 'VirtualIP', address: '10.0.0.100' },
  package: { digest: `sha256:${'0a'.repeat(32)}`, publicKey: 'a key' },
  proxy: { httpProxy: 'http://proxy.example:3128', credentials: { name: 'proxy' } },
  registries: [{ host: 'docker.io', endpoints: ['https://mirror.example'] }],
  apiNames: ['api.example'],
  files: [
    { path: '/etc/motd', from: { configMap: 'files', key: 'motd' } },
    { path: '/opt/shop/notes', from: { configMap: 'files', key: 'motd' } },
  ],
  hooks: [
    { when: 'BeforeInstall', configMap: 'hooks', key: 'script' },
    { when: 'AfterInstall', configMap: 'hooks', key: 'script' },
  ],
  addons: [{ configMap: 'addons', key: 'ingress.yaml' }],
}

const changed: Partial<EdgeClusterSpec> = {
  machines: [
    ...blocksOf([first, second, third], [fifth]),
    { addresses: [fourth], credentials: { name: 'ssh' }, labels: { shop: '8', till: 'no' } },
  ],
  highAvailability: { type: 'Balancer', address: '10.0.0.101' },
  package: { digest: `sha256:${'0b'.repeat(32)}`, publicKey: 'a key' },
  proxy: { httpProxy: 'http://other.example:3128' },
  registries: [],
  apiNames: ['other.example'],
  files: [{ path: '/opt/other', from: { configMap: 'files', key: 'motd' } }],
  hooks: [{ when: 'BeforeInstall', configMap: 'hooks', key: 'script' }],
}

const plain = (): EdgeClusterSpec => ({ machines: blocksOf([first], [fourth]) })
const etcd = { type: 'Etcd' as const }

/** Makes a cluster, and lets the disturbance come to what is done to it afterwards. */
function storyOf(title: string, spec: EdgeClusterSpec, change?: (scene: EdgeScene) => void): Story {
  return {
    title,
    ends: /^Ready$/,
    async play(disturbance) {
      const scene = new EdgeScene(spec, values)
      if (change !== undefined) {
        await scene.settle()
        assert.equal(scene.story.status.phase, 'Ready', JSON.stringify(scene.story.status))
        change(scene)
      }
      await scene.settle(disturbance)
      const { ran } = scene.story
      const { unknown } = scene.world
      return { state: scene.state(), ending: scene.ending(), ran: new Map(ran), unknown }
    },
  }
}

function importStory(title: string, isRemoved: boolean): Story {
  const tables = { steps: importSteps, departure: [], removal: importRemoval }
  const spec: EdgeClusterSpec = { machines: [], import: {} }
  return {
    title,
    ends: /^Ready$/,
    async play(disturbance) {
      const scene = new EdgeScene(spec)
      if (isRemoved) {
        await scene.settle({}, tables)
        scene.story.mark({ deletionTimestamp: '2026-01-01T00:00:00Z' })
      }
      await scene.settle(disturbance, tables)
      const { ran } = scene.story
      const { unknown } = scene.world
      return { state: scene.state(), ending: scene.ending(), ran: new Map(ran), unknown }
    },
  }
}

const remove = ({ story }: EdgeScene): void =>
  story.mark({ deletionTimestamp: '2026-01-01T00:00:00Z' })

/** The stories of each table. A step that none of them plays fails below. */
const tables: readonly {
  readonly steps: readonly Step[]
  readonly stories: readonly Story[]
}[] = [
  {
    steps,
    stories: [
      storyOf('three masters are made', everything),
      storyOf('two masters and a witness are made', {
        machines: blocksOf([first, second], [fourth], [third]),
        store: etcd,
      }),
      storyOf('the fields of a cluster change', everything, ({ story }) => story.change(changed)),
      storyOf('one master on a file becomes three', plain(), ({ story }) => {
        story.change({ machines: blocksOf([first, second, third], [fourth]), store: etcd })
        const configuration = { site: { metricsAPI: false }, node: { logLevel: 'debug' as const } }
        story.edge = { ...story.edge, status: { ...story.status, configuration } }
      }),
    ],
  },
  {
    steps: departure,
    stories: [
      storyOf('a master and a node leave', everything, ({ story }) =>
        story.change({ machines: blocksOf([first, second, sixth], [fourth]) }),
      ),
      storyOf('the first master is dead and leaves', everything, ({ story, world }) => {
        world.machine(first).isAway = true
        story.change({ machines: blocksOf([second, third, sixth], [fourth]) })
        story.mark({ annotations: { [edgeClusterAsks.dead]: first } })
      }),
    ],
  },
  {
    steps: removal,
    stories: [
      storyOf('a cluster is removed', everything, remove),
      storyOf('a cluster is removed and its machines stay', everything, (scene) => {
        scene.story.change({ deletion: { machines: 'Keep' } })
        remove(scene)
      }),
    ],
  },
  { steps: importSteps, stories: [importStory('a cluster is imported', false)] },
  { steps: importRemoval, stories: [importStory('an imported cluster leaves', true)] },
  ...jobStories(),
]

const moments: readonly Moment[] = ['before', 'halfway', 'after']

for (const { steps: table, stories } of tables) {
  const references = new Map<Story, ReturnType<Story['play']>>()
  const referenceOf = async (story: Story): ReturnType<Story['play']> => {
    const played = references.get(story) ?? story.play({})
    references.set(story, played)
    return played
  }
  for (const story of stories) {
    test(`${story.title}: every step may be done twice`, async () => {
      const reference = await referenceOf(story)
      assert.deepEqual(reference.unknown, [])
      assert.match(reference.ending, story.ends)
      const twice = await story.play({ isTwice: true })
      assert.match(twice.ending, story.ends)
      assert.deepEqual(twice.state, reference.state)
    })
  }
  const title = stories[0]?.title ?? ''
  for (const { name } of table) {
    test(`${title}: a hub that is killed around ${name} goes on, and nothing is different`, async () => {
      let kills = 0
      for (const story of stories) {
        const { ran, state } = await referenceOf(story)
        for (const [text, commands] of firstAndLast([...ran], name)) {
          for (const moment of moments) {
            if (moment === 'halfway' && commands < 2) continue
            const kill = { text, moment, halfway: Math.ceil(commands / 2) }
            const played = await story.play({ kill })
            const killed = `${story.title}: killed ${moment} ${text}`
            assert.match(played.ending, story.ends, killed)
            assert.deepEqual(played.state, state, killed)
            kills += 1
          }
        }
      }
      assert.ok(kills > 0, `no story does ${name}: let one of this file do it`)
    })
  }
}

/** Returns the first and the last run of a step: the first master, and the machine that is least like it. */
function firstAndLast<T>(ran: readonly (readonly [string, T])[], name: string) {
  const own = ran.filter(([text]) => text.replace(/@.*/, '') === name)
  return own.filter((_, at) => at === 0 || at === own.length - 1)
}
