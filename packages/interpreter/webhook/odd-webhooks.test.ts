import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { AnyObject } from '@skerry/api'
import { systemClock, seededRandom } from '@skerry/base'
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
import { createWebhookCaller } from './call-interpreter-webhook.ts'
import { InterpreterWebhooks } from './interpreter-webhooks.ts'
import { InterpreterWebhookError, WebhookInterpreter } from './webhook-interpreter.ts'

/** Customizations name webhooks that interpret kinds. An odd answer makes one question fail at most. */
const seed = 20_261_126
const signal = new AbortController().signal

const valve: AnyObject = {
  apiVersion: 'example.com/v1',
  kind: 'Valve',
  metadata: { namespace: 'plant', name: 'north' },
  spec: { count: 3 },
}
const patch = Buffer.from('[{"op":"add","path":"/spec/kept","value":{"a":1}}]').toString('base64')
const secret = { apiVersion: 'v1', kind: 'Secret', namespace: 'plant', name: 'key' }

const questions: Readonly<
  Record<string, readonly [response: object, ask: (it: WebhookInterpreter) => Promise<unknown>]>
> = {
  replicas: [
    { replicas: 3, replicaRequirements: { resourceRequest: { cpu: '1' }, nodeClaim: {} } },
    (it) => it.replicas(valve, signal),
  ],
  components: [
    { components: [{ name: 'seat', replicas: 1, replicaRequirements: { resourceRequest: {} } }] },
    (it) => it.components(valve, signal),
  ],
  'what is retained': [{ patch, patchType: 'JSONPatch' }, (it) => it.retain(valve, valve, signal)],
  status: [{ rawStatus: { open: 1 } }, (it) => it.reflectStatus(valve, signal)],
  health: [{ healthy: true }, (it) => it.health(valve, signal)],
  dependencies: [{ dependencies: [secret] }, (it) => it.dependencies(valve, signal)],
}

let peer: RawPeer
let patient: WebhookInterpreter
let impatient: WebhookInterpreter

before(async () => {
  const tls = await webhookCertificate()
  peer = await startRawPeer(says(''), { tls })
  const webhook = {
    name: 'valve.example.com',
    clientConfig: {
      url: `https://127.0.0.1:${peer.port}/`,
      caBundle: Buffer.from(tls.ca).toString('base64'),
    },
    rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], kinds: ['*'] }],
    interpreterContextVersions: ['v1alpha1'],
  }
  const interpreterWith = (timeoutSeconds: number): WebhookInterpreter => {
    const webhooks = new InterpreterWebhooks([
      {
        apiVersion: 'config.karmada.io/v1alpha1',
        kind: 'ResourceInterpreterWebhookConfiguration',
        metadata: { name: 'valves' },
        webhooks: [{ ...webhook, timeoutSeconds }],
      },
    ])
    return new WebhookInterpreter(() => webhooks, createWebhookCaller({ clock: systemClock }))
  }
  patient = interpreterWith(10)
  impatient = interpreterWith(0.2)
})

after(() => peer[Symbol.dispose]())

for (const [what, [response, ask]] of Object.entries(questions)) {
  test(`an interpreter's webhook that answers oddly about ${what} fails that question only (seed ${seed})`, async () => {
    const trial = {
      peer,
      right: (_head: string, body: string) => {
        const { uid } = JSON.parse(body).request
        return JSON.stringify({ response: { uid, successful: true, ...response } })
      },
      names: /^Cannot ask webhook "valves\/valve.example.com" for \w+ of Valve "plant\/north": /,
      bytesMax: 5 * 1024 * 1024,
      ask: () => told(() => ask(patient)),
      askImpatiently: () => told(() => ask(impatient)),
    }
    const isFirst = what === 'replicas'
    const options: OddJsonOptions = isFirst
      ? { mutations: 60, rounds: 40, failures: ['201', '204', '307', '401', '429', '503'] }
      : { mutations: 60, rounds: 0, failures: [], parts: 'documents' }
    await tryOddAnswers(trial, oddJsonAnswers(seededRandom(seed), options))
  })
}

async function told(work: () => Promise<unknown>): Promise<Told> {
  try {
    return { value: await work() }
  } catch (error) {
    assert.ok(error instanceof InterpreterWebhookError, String(error))
    return { error: error.message }
  }
}
