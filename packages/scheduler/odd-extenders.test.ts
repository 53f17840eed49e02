import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock, seededRandom } from '@skerry/base'
import {
  oddJsonAnswers,
  says,
  startRawPeer,
  tryOddAnswers,
  type OddJsonOptions,
  type Told,
} from '@skerry/testing'
import { parseSchedulerConfiguration } from './configuration.ts'
import { ExtenderError, type Extender } from './extender.ts'
import { node, pod } from './testing/scheduling-world.ts'

/** An odd answer of an extender fails one placement at most. */
const seed = 20_261_125

interface Asked {
  readonly fields: object
  readonly right: object
  readonly ask: (extender: Extender) => Promise<unknown>
}

const nodes = [node('a'), node('b')]
const { signal } = new AbortController()
const verbs: Readonly<Record<string, Asked>> = {
  'names of nodes that are left': {
    fields: { filterVerb: 'filter', nodeCacheCapable: true },
    right: {
      NodeNames: ['a'],
      FailedNodes: { b: 'full' },
      FailedAndUnresolvableNodes: {},
      Error: '',
    },
    ask: async (extender) => extender.filter?.(pod({}), nodes, signal),
  },
  'nodes that are left': {
    fields: { filterVerb: 'filter' },
    right: { Nodes: { items: [node('a')] }, FailedNodes: { b: 'full' } },
    ask: async (extender) => extender.filter?.(pod({}), nodes, signal),
  },
  scores: {
    fields: { prioritizeVerb: 'prioritize', weight: 2 },
    right: [{ Host: 'a', Score: 7 }],
    ask: async (extender) => extender.prioritize?.(pod({}), nodes, signal),
  },
  victims: {
    fields: { preemptVerb: 'preempt', nodeCacheCapable: true },
    right: { NodeNameToMetaVictims: { a: { Pods: [{ UID: 'u' }], NumPDBViolations: 1 } } },
    ask: async (extender) => extender.preempt?.(pod({}), [], signal),
  },
  'a binding': {
    fields: { bindVerb: 'bind' },
    right: { Error: '' },
    ask: async (extender) => extender.bind?.({ pod: pod({}), nodeName: 'a' }, signal),
  },
}

for (const [what, { fields, right, ask }] of Object.entries(verbs)) {
  test(`an extender that answers oddly about ${what} fails that question only (seed ${seed})`, async () => {
    using peer = await startRawPeer(says(''))
    const urlPrefix = `http://127.0.0.1:${peer.port}`
    const extenderWith = async (httpTimeout: string): Promise<Extender> => {
      const { extenders } = await parseSchedulerConfiguration(
        {
          apiVersion: 'kubescheduler.config.k8s.io/v1',
          kind: 'KubeSchedulerConfiguration',
          extenders: [{ urlPrefix, httpTimeout, ...fields }],
        },
        { clock: systemClock },
      )
      return extenders[0] ?? assert.fail()
    }
    const patient = await extenderWith('10s')
    const impatient = await extenderWith('200ms')
    const trial = {
      peer,
      right: () => JSON.stringify(right),
      names: new RegExp(urlPrefix),
      bytesMax: 20 * 1024 * 1024,
      ask: () => told(() => ask(patient)),
      askImpatiently: () => told(() => ask(impatient)),
    }
    const failures = ['201', '204', '307', '400', '404', '429', '500', '503']
    const isFirst = what === 'scores'
    const options: OddJsonOptions = isFirst
      ? { mutations: 60, rounds: 40, failures }
      : { mutations: 60, rounds: 0, parts: 'documents' }
    await tryOddAnswers(trial, oddJsonAnswers(seededRandom(seed), options))
  })
}

async function told(work: () => Promise<unknown>): Promise<Told> {
  try {
    return { value: await work() }
  } catch (error) {
    assert.ok(error instanceof ExtenderError, String(error))
    // The extender's own error text is passed on unchanged.
    const isOwn = error.cause === undefined && !error.message.startsWith('failed')
    return isOwn ? { value: error.message } : { error: error.message }
  }
}
