import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { JsonObject } from '@skerry/api'
import {
  callApi,
  startTestApiServer,
  type ApiReply,
  type TestApiServer,
  until,
} from '@skerry/testing'

const group = '/apis/admissionregistration.k8s.io/v1'
const apiVersion = 'admissionregistration.k8s.io/v1'
const configMaps = '/api/v1/namespaces/default/configmaps'

interface GoldenCase {
  readonly name: string
  readonly sort: 'Mutating' | 'Validating'
  readonly spec: JsonObject
  readonly binding: JsonObject
  /** A refusal, or the resulting object. */
  readonly answer: JsonObject
  readonly warning?: string
}

async function post(api: TestApiServer, path: string, body: object): Promise<ApiReply> {
  const reply = await callApi(api.transport, { method: 'POST', path, body })
  assert.equal(reply.status, 201, reply.text)
  return reply
}

interface PolicyParts {
  readonly name: string
  readonly sort: 'Mutating' | 'Validating'
  readonly spec: JsonObject
  readonly binding?: JsonObject
}

async function addPolicy(
  api: TestApiServer,
  { name, sort, spec, binding = {} }: PolicyParts,
): Promise<void> {
  const kind = `${sort}AdmissionPolicy`
  const rule = {
    apiGroups: [''],
    apiVersions: ['v1'],
    operations: ['CREATE', 'UPDATE'],
    resources: ['configmaps'],
  }
  await post(api, `${group}/${sort.toLowerCase()}admissionpolicies`, {
    apiVersion,
    kind,
    metadata: { name },
    spec: {
      matchConstraints: {
        resourceRules: [rule],
        objectSelector: { matchLabels: { case: name } },
      },
      ...(sort === 'Mutating' ? { reinvocationPolicy: 'Never' } : {}),
      ...spec,
    },
  })
  await post(api, `${group}/${sort.toLowerCase()}admissionpolicybindings`, {
    apiVersion,
    kind: `${kind}Binding`,
    metadata: { name },
    spec: {
      policyName: name,
      ...(sort === 'Validating' ? { validationActions: ['Deny'] } : {}),
      ...binding,
    },
  })
}

function create(api: TestApiServer, name: string, label = name): Promise<ApiReply> {
  const body = { metadata: { name, labels: { case: label } }, data: { a: 'b' } }
  return callApi(api.transport, { method: 'POST', path: `${configMaps}?dryRun=All`, body })
}

// One policy with one binding, and the answer of Kubernetes 1.36.3 to one object, as recorded.
const file = new URL('testdata/policy-answers.json', import.meta.url)
const golden: GoldenCase[] = JSON.parse(readFileSync(file, 'utf8'))

test('policies decide as those of upstream do, in the same words', async (context) => {
  await using api = await startTestApiServer({ withAccess: true })
  for (const [name, want] of [
    ['par', 'zz!'],
    ['par2', 'zz'],
  ] as const) {
    await post(api, configMaps, { metadata: { name, labels: { p: '1' } }, data: { want } })
  }
  for (const item of golden) await addPolicy(api, item)
  for (const { name, answer, warning } of golden) {
    await context.test(name, async () => {
      const reply = await create(api, name)
      assert.deepEqual(answerOf(reply), answer)
      assert.equal(reply.headers['warning'], warning)
    })
  }
})

function answerOf({ status, body }: ApiReply): JsonObject {
  if (status !== 201) {
    const { code, reason, message } = body
    return { code, ...(reason === undefined ? {} : { reason }), message }
  }
  const { annotations, labels } = body.metadata
  return {
    data: body.data ?? {},
    ...(body.immutable ? { immutable: true } : {}),
    ...(annotations ? { annotations } : {}),
    ...(Object.keys(labels ?? {}).length > 1 ? { labels } : {}),
  }
}

test('a policy takes effect with its binding, at once, and ends with it', async () => {
  await using api = await startTestApiServer({ withAccess: true })
  assert.equal((await create(api, 'none')).status, 201)
  await addPolicy(api, {
    name: 'none',
    sort: 'Validating',
    spec: { validations: [{ expression: 'false' }] },
  })
  assert.equal((await create(api, 'none')).status, 422)
  const path = `${group}/validatingadmissionpolicybindings/none`
  await callApi(api.transport, { method: 'DELETE', path })
  assert.equal((await create(api, 'none')).status, 201)
})

test('a policy that asks for it runs again when a later one changed the object', async () => {
  await using api = await startTestApiServer({ withAccess: true })
  const add = (name: string, expression: string, reinvocationPolicy: string) =>
    addPolicy(api, {
      name,
      sort: 'Mutating',
      spec: {
        reinvocationPolicy,
        matchConstraints: {
          resourceRules: [
            { apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] },
          ],
          objectSelector: { matchLabels: { case: 'again' } },
        },
        mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
      },
    })
  await add('a', 'Object{data: {"seen": string(has(object.data.late))}}', 'IfNeeded')
  await add('b', 'Object{data: {"late": "yes"}}', 'Never')
  const { body } = await create(api, 'again')
  assert.deepEqual(body.data, { a: 'b', late: 'yes', seen: 'true' })
})

test('the status of a policy says which expressions do not fit the objects that it matches', async () => {
  await using api = await startTestApiServer({ withAccess: true })
  const rule = (resources: string[]) => ({
    apiGroups: ['apps'],
    apiVersions: ['v1'],
    operations: ['CREATE'],
    resources,
  })
  const path = `${group}/validatingadmissionpolicies`
  await post(api, path, {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'typed' },
    spec: {
      matchConstraints: { resourceRules: [rule(['deployments', 'daemonsets'])] },
      variables: [{ name: 'many', expression: 'object.spec.replicas' }],
      validations: [
        { expression: 'variables.many > 1 && object.metadata.name != ""' },
        { expression: 'object.spec.replicas == "x"' },
      ],
    },
  })
  const status = await until(async () => {
    const { body } = await callApi(api.transport, { path: `${path}/typed` })
    return body.status.observedGeneration !== undefined && body.status
  })
  assert.deepEqual(status, {
    observedGeneration: 1,
    typeChecking: {
      expressionWarnings: [
        {
          fieldRef: 'spec.validations[1].expression',
          warning: [
            'apps/v1, Kind=DaemonSet: ERROR: <input>:1:12: undefined field \'replicas\'\n | object.spec.replicas == "x"\n | ...........^\n',
            "apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_==_' applied to '(int, string)'\n | object.spec.replicas == \"x\"\n | .....................^\n",
          ].join('\n'),
        },
      ],
    },
  })
})
