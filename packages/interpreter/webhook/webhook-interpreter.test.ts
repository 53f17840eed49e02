import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '@skerry/base'
import { isJsonObject, type AnyObject } from '@skerry/api'
import { startTestWebhook, type TestWebhook, type WebhookReply } from '@skerry/testing'
import { createWebhookCaller } from './call-interpreter-webhook.ts'
import { InterpreterWebhooks } from './interpreter-webhooks.ts'
import type { WebhookConfiguration, WebhookFields } from './webhook-configuration.ts'
import { InterpreterWebhookError, WebhookInterpreter } from './webhook-interpreter.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)

const valve: AnyObject = {
  apiVersion: 'example.com/v1',
  kind: 'Valve',
  metadata: { namespace: 'plant', name: 'north' },
  spec: { count: 3 },
}

function configuration(fields: Partial<WebhookFields>, name = 'valves'): WebhookConfiguration {
  const rule = {
    operations: ['*'],
    apiGroups: ['example.com'],
    apiVersions: ['v1'],
    kinds: ['Valve'],
  }
  return {
    apiVersion: 'config.karmada.io/v1alpha1',
    kind: 'ResourceInterpreterWebhookConfiguration',
    metadata: { name },
    webhooks: [
      {
        name: 'valve.example.com',
        clientConfig: {},
        rules: [rule],
        interpreterContextVersions: ['v1alpha1'],
        ...fields,
      },
    ],
  }
}

function taught(...configurations: WebhookConfiguration[]): WebhookInterpreter {
  const webhooks = new InterpreterWebhooks(configurations)
  return new WebhookInterpreter(() => webhooks, createWebhookCaller({ clock: systemClock }))
}

function taughtBy({ url, caBundle }: TestWebhook, fields: Partial<WebhookFields> = {}) {
  const clientConfig = { url: `${url}/interpret`, caBundle }
  return taught(configuration({ clientConfig, ...fields }))
}

/** The request of a question. */
function requestIn(body: unknown): Readonly<Record<string, unknown>> {
  assert.ok(isJsonObject(body) && isJsonObject(body['request']))
  return body['request']
}

function successful(body: unknown, response: object): WebhookReply {
  const { uid } = requestIn(body)
  return {
    apiVersion: 'config.karmada.io/v1alpha1',
    response: { uid, successful: true, ...response },
  }
}

function jsonPatch(...operations: object[]): object {
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64')
  return { patch, patchType: 'JSONPatch' }
}

const answers: Readonly<Record<string, object>> = {
  InterpretReplica: { replicas: 3, replicaRequirements: { resourceRequest: { cpu: '1000m' } } },
  InterpretComponent: { components: [{ name: 'seat', replicas: 1 }] },
  ReviseReplica: jsonPatch({ op: 'replace', path: '/spec/count', value: 5 }),
  Retain: jsonPatch({ op: 'add', path: '/spec/kept', value: true }),
  InterpretStatus: { rawStatus: { open: 1 } },
  AggregateStatus: {},
  InterpretHealth: { healthy: false },
  InterpretDependency: {
    dependencies: [{ apiVersion: 'v1', kind: 'Secret', namespace: 'plant', name: 'key' }],
  },
}

test('a webhook answers every question about its kinds', async () => {
  await using hook = await startTestWebhook(({ body }) =>
    successful(body, answers[String(requestIn(body)['operation'])] ?? {}),
  )
  const interpreter = taughtBy(hook)
  assert.deepEqual(await interpreter.replicas(valve, soon()), {
    replicas: 3,
    requirements: { resourceRequest: { cpu: '1' } },
  })
  assert.deepEqual(await interpreter.components(valve, soon()), [{ name: 'seat', replicas: 1 }])
  const revised = await interpreter.reviseReplica(valve, 5, soon())
  assert.deepEqual(revised['spec'], { count: 5 })
  const kept = await interpreter.retain(valve, { ...valve, spec: { kept: true } }, soon())
  assert.deepEqual(kept['spec'], { count: 3, kept: true })
  assert.deepEqual(await interpreter.reflectStatus(valve, soon()), { open: 1 })
  const items = [{ clusterName: 'a', applied: true }]
  assert.equal(await interpreter.aggregateStatus(valve, items, soon()), valve)
  assert.equal(await interpreter.health(valve, soon()), 'Unhealthy')
  assert.deepEqual(
    (await interpreter.dependencies(valve, soon())).map(({ name }) => name),
    ['key'],
  )
  const [first, ...others] = hook.requests.map(({ body }) => requestIn(body))
  assert.deepEqual(
    { ...first, uid: '' },
    {
      uid: '',
      kind: { group: 'example.com', version: 'v1', kind: 'Valve' },
      name: 'north',
      namespace: 'plant',
      operation: 'InterpretReplica',
      object: valve,
      replicas: 0,
    },
  )
  assert.equal(others[1]?.['replicas'], 5)
  assert.deepEqual(others[2]?.['observedObject'], { ...valve, spec: { kept: true } })
  assert.deepEqual(others[4]?.['aggregatedStatus'], items)
})

test('the first matching webhook by name is asked', () => {
  const rule = { operations: ['Retain'], apiGroups: [''], apiVersions: ['*'], kinds: ['Pod'] }
  const webhooks = new InterpreterWebhooks([
    configuration({}, 'z'),
    configuration({}, 'a'),
    configuration({ rules: [rule] }, 'pods'),
  ])
  assert.equal(webhooks.of(valve, 'Retain')?.id, 'a/valve.example.com')
  assert.equal(
    webhooks.of({ apiVersion: 'v1', kind: 'Pod' }, 'Retain')?.id,
    'pods/valve.example.com',
  )
  assert.equal(webhooks.of({ apiVersion: 'v1', kind: 'Pod' }, 'InterpretHealth'), undefined)
  assert.equal(webhooks.of({ apiVersion: 'example.com/v2', kind: 'Valve' }, 'Retain'), undefined)
})

async function refusal(
  interpreter: WebhookInterpreter,
  ask = (it: WebhookInterpreter): Promise<unknown> => it.health(valve, soon()),
): Promise<string> {
  try {
    await ask(interpreter)
    return 'answered'
  } catch (error) {
    assert.ok(error instanceof InterpreterWebhookError, String(error))
    return error.message.replace(
      /^Cannot ask webhook "valves\/valve.example.com" for \w+ of Valve "plant\/north": /,
      '',
    )
  }
}

test('a webhook that stalls is waited for until its limit, and no longer', async () => {
  const never = Promise.withResolvers<undefined>()
  await using hook = await startTestWebhook(() => never.promise)
  const interpreter = taughtBy(hook, { timeoutSeconds: 1 })
  assert.equal(await refusal(interpreter), 'no answer within 1000 ms')
  never.resolve(undefined)
})

test('a webhook that lies, refuses or redirects gives no answer', async () => {
  const replies: readonly (readonly [
    reply: (body: unknown) => WebhookReply | undefined,
    why: RegExp,
  ])[] = [
    [() => undefined, /socket hang up|ECONNRESET/],
    [() => ({ status: 500, text: 'broken' }), /^it answered 500$/],
    [
      () => ({ status: 307, text: '', headers: { location: 'https://169.254.169.254/' } }),
      /^it answered 307$/,
    ],
    [() => 'no json', /^its answer is not JSON$/],
    [() => ({}), /^its answer has no response$/],
    [() => ({ response: { uid: 'mine', successful: true, healthy: true } }), /to another request$/],
    [(body) => successful(body, {}), /^its health is not true or false$/],
    [(body) => successful(body, { successful: false }), /does not say why$/],
    [
      (body) => successful(body, { successful: false, status: { code: 403, message: 'no\nway' } }),
      /^it answered: "no\\nway" \(code 403\)$/,
    ],
    [() => `{"x":"${'x'.repeat(5 * 1024 * 1024)}"}`, /longer than 4194304 bytes$/],
  ]
  for (const [reply, why] of replies) {
    await using hook = await startTestWebhook(({ body }) => reply(body))
    assert.match(await refusal(taughtBy(hook)), why)
  }
})

test("a patch changes an object's contents, never its identity", async () => {
  const patches: readonly (readonly [response: object, why: RegExp])[] = [
    [jsonPatch({ op: 'replace', path: '/metadata/name', value: 'south' }), /of the same .* name$/],
    [jsonPatch({ op: 'replace', path: '/kind', value: 'Secret' }), /of the same/],
    [jsonPatch({ op: 'remove', path: '/spec/nothing' }), /^its patch cannot be applied: /],
    [{ patch: 'bm8=', patchType: 'JSONPatch' }, /JSON/],
    [{ patch: 'e30=', patchType: 'MergePatch' }, /^its patchType is not JSONPatch$/],
    [{ patchType: 'JSONPatch' }, /^its patch is not a text/],
  ]
  for (const [response, why] of patches) {
    await using hook = await startTestWebhook(({ body }) => successful(body, response))
    const ask = (it: WebhookInterpreter) => it.retain(valve, valve, soon())
    assert.match(await refusal(taughtBy(hook), ask), why)
  }
})

test('only a webhook over HTTPS whose authority is the configured one is asked', async () => {
  await using hook = await startTestWebhook(({ body }) => successful(body, { healthy: true }))
  await using other = await startTestWebhook(() => ({}))
  const { url, caBundle } = hook
  const asked = async (fields: Partial<WebhookFields>): Promise<string> =>
    refusal(taught(configuration(fields)))
  assert.equal(await asked({ clientConfig: { url, caBundle } }), 'answered')
  assert.notEqual(await asked({ clientConfig: { url, caBundle: other.caBundle } }), 'answered')
  assert.notEqual(await asked({ clientConfig: { url } }), 'answered')
  assert.equal(
    await asked({ clientConfig: { url: url.replace('https', 'http'), caBundle } }),
    'its URL is not an https:// URL',
  )
  assert.equal(await asked({ clientConfig: { url, caBundle: 'eA==' } }), 'its caBundle is not PEM')
  assert.equal(
    await asked({ clientConfig: { service: { namespace: 'a', name: 'b' }, caBundle } }),
    'it names service a/b, and only a URL can be reached from here',
  )
  assert.match(
    await asked({ clientConfig: { url, caBundle }, interpreterContextVersions: ['v2'] }),
    /version v1alpha1$/,
  )
  assert.equal(hook.requests.length, 1)
})

test("a caller that stops waiting gets its own reason, not the webhook's", async () => {
  const stop = new AbortController()
  const reason = new Error('stopped')
  await using hook = await startTestWebhook(async () => {
    stop.abort(reason)
    return undefined
  })
  await assert.rejects(taughtBy(hook).health(valve, stop.signal), reason)
})
