import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  callApi,
  startTestApiServer,
  type ApiCall,
  type TestApiServer,
  until,
} from '@skerry/testing'

let server: TestApiServer

before(async () => {
  server = await startTestApiServer()
})
after(async () => {
  await server[Symbol.asyncDispose]()
})

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const things = '/apis/rules.example.com/v1/things'
const text = { type: 'string', maxLength: 40 }
const integer = { type: 'integer' }

const rules = (...all: (string | Record<string, unknown>)[]) => ({
  'x-kubernetes-validations': all.map((rule) => (typeof rule === 'string' ? { rule } : rule)),
})

const specSchema = {
  type: 'object',
  properties: {
    a: { ...integer, ...rules('self >= 0', { rule: 'self >= oldSelf', message: 'a grows' }) },
    b: integer,
    s: { ...text, ...rules({ rule: "self.matches('^[a-z]*$')", reason: 'FieldValueForbidden' }) },
    io: {
      'x-kubernetes-int-or-string': true,
      maxLength: 20,
      ...rules('type(self) == int ? self < 10 : self.endsWith("%")'),
    },
    lm: {
      type: 'array',
      maxItems: 5,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: {
        type: 'object',
        required: ['k'],
        properties: { k: text, v: integer },
        ...rules(
          { rule: 'self.v >= oldSelf.v', message: 'v grows' },
          {
            rule: 'self.v < 100',
            messageExpression: '"v of " + self.k + " is too much"',
            fieldPath: '.v',
          },
        ),
      },
    },
    m: {
      type: 'object',
      maxProperties: 5,
      additionalProperties: { ...integer, ...rules('self < 10') },
    },
    first: {
      ...text,
      ...rules({ rule: 'oldSelf.hasValue() || self == "first"', optionalOldSelf: true }),
    },
    q: { ...text, ...rules('quantity(self).isLessThan(quantity("1Gi"))') },
    inf: { ...integer, ...rules('9223372036854775807 + self > 0') },
    'a-b': text,
    en: { type: 'string', enum: ['A', 'B'] },
  },
  ...rules(
    '!has(self.a) || !has(self.b) || self.a < self.b',
    "!has(self.a__dash__b) || self.a__dash__b != 'bad'",
  ),
}

function definition(plural: string, spec: unknown, rest: Record<string, unknown> = {}) {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.rules.example.com` },
    spec: {
      group: 'rules.example.com',
      scope: 'Cluster',
      names: { plural, kind: 'Thing' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec,
                status: {
                  type: 'object',
                  properties: { p: { ...integer, ...rules('self >= oldSelf') } },
                },
              },
              ...rest,
            },
          },
        },
      ],
    },
  }
}

const call = async (request: ApiCall) => {
  const { status, text: body } = await callApi(server.transport, request)
  // Answers of the API server are JSON objects.
  const json = JSON.parse(body) as { details?: { causes?: { field: string; message: string }[] } }
  const causes = (json.details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`)
  return { status, causes }
}

async function served(path: string): Promise<void> {
  const get = () => callApi(server.transport, { method: 'GET', path })
  await until(async () => (await get()).status === 200)
}

const thing = (name: string, spec: unknown) => ({
  apiVersion: 'rules.example.com/v1',
  kind: 'Thing',
  metadata: { name },
  spec,
})

const merge = (path: string, body: unknown) =>
  call({ method: 'PATCH', path, body, headers: { 'content-type': 'application/merge-patch+json' } })

test('rules are evaluated when an object is made', async () => {
  const body = definition('things', specSchema)
  assert.deepEqual(await call({ method: 'POST', path: definitions, body }), {
    status: 201,
    causes: [],
  })
  await served(things)
  const table: readonly (readonly [unknown, string[]])[] = [
    [{ a: 1, b: 2, s: 'abc', io: '5%', m: { x: 1 }, q: '1Mi', first: 'first' }, []],
    [{ a: -1 }, ['spec.a: Invalid value: -1: failed rule: self >= 0']],
    [
      { a: 5, b: 3 },
      ['spec: Invalid value: failed rule: !has(self.a) || !has(self.b) || self.a < self.b'],
    ],
    [{ s: 'ABC' }, ["spec.s: Forbidden: failed rule: self.matches('^[a-z]*$')"]],
    [
      { io: 50 },
      [
        'spec.io: Invalid value: 50: failed rule: type(self) == int ? self < 10 : self.endsWith("%")',
      ],
    ],
    [{ lm: [{ k: 'a', v: 200 }] }, ['spec.lm[0].v: Invalid value: v of a is too much']],
    [{ m: { x: 1, y: 20 } }, ['spec.m[y]: Invalid value: 20: failed rule: self < 10']],
    [
      { first: 'second' },
      ['spec.first: Invalid value: "second": failed rule: oldSelf.hasValue() || self == "first"'],
    ],
    [
      { inf: 1 },
      [
        'spec.inf: Invalid value: "integer": integer overflow evaluating rule: 9223372036854775807 + self > 0',
      ],
    ],
    [
      { 'a-b': 'bad' },
      ["spec: Invalid value: failed rule: !has(self.a__dash__b) || self.a__dash__b != 'bad'"],
    ],
    [
      { en: 'C', a: -1 },
      [
        'spec.en: Unsupported value: "C": supported values: "A", "B"',
        '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
      ],
    ],
  ]
  for (const [at, [spec, causes]] of table.entries()) {
    const answer = await call({ method: 'POST', path: things, body: thing(`t${at}`, spec) })
    assert.deepEqual(answer.causes, causes, JSON.stringify(spec))
    assert.equal(answer.status, causes.length === 0 ? 201 : 422)
  }
})

test('rules compare with the previous state, where there is one', async () => {
  const spec = { a: 2, first: 'first', lm: [{ k: 'a', v: 5 }] }
  await call({ method: 'POST', path: things, body: thing('moving', spec) })
  const path = `${things}/moving`
  const table: readonly (readonly [unknown, string[]])[] = [
    [{ a: 1 }, ['spec.a: Invalid value: 1: a grows']],
    [{ a: 3, first: 'other' }, []],
    [{ a: null }, []],
    [
      {
        lm: [
          { k: 'b', v: 1 },
          { k: 'a', v: 4 },
        ],
      },
      ['spec.lm[1]: Invalid value: v grows'],
    ],
    [
      {
        lm: [
          { k: 'b', v: 1 },
          { k: 'a', v: 6 },
        ],
      },
      [],
    ],
  ]
  for (const [change, causes] of table) {
    assert.deepEqual((await merge(path, { spec: change })).causes, causes, JSON.stringify(change))
  }
  assert.deepEqual((await merge(`${path}/status`, { status: { p: 5 } })).causes, [])
  assert.deepEqual((await merge(`${path}/status`, { status: { p: 4 } })).causes, [
    'status.p: Invalid value: 4: failed rule: self >= oldSelf',
  ])
})

test('a value that a stricter schema would refuse may stay unchanged', async () => {
  await call({ method: 'POST', path: things, body: thing('old', { b: 1, s: 'long', m: { x: 1 } }) })
  const { properties } = specSchema
  const strict = {
    ...specSchema,
    properties: {
      ...properties,
      s: { ...properties.s, maxLength: 2 },
      m: { ...properties.m, additionalProperties: { ...integer, ...rules('self > 5') } },
    },
  }
  const { spec } = definition('things', strict)
  const path = `${things}/old`
  assert.deepEqual(await merge(`${definitions}/things.rules.example.com`, { spec }), {
    status: 200,
    causes: [],
  })
  const tried = () => merge(`${path}?dryRun=All`, { spec: { s: 'xyz' } })
  await until(async () => (await tried()).status === 422)
  assert.deepEqual((await merge(path, { spec: { b: 6 } })).causes, [])
  assert.deepEqual((await merge(path, { spec: { m: { x: 1, y: 2 } } })).causes, [
    'spec.m[y]: Invalid value: 2: failed rule: self > 5',
  ])
})

test('a definition with rules that cannot work is refused', async () => {
  const list = { type: 'array', items: { type: 'string' } }
  const table: readonly (readonly [unknown, string])[] = [
    [{ properties: { a: integer }, ...rules('self.b > 1') }, "undefined field 'b'"],
    [{ properties: { a: integer }, ...rules('self.a') }, 'cel expression must evaluate to a bool'],
    [
      { properties: { a: list }, ...rules('self.a.all(x, self.a.all(y, x == y))') },
      'estimated rule cost exceeds budget by factor of',
    ],
    [
      { properties: { a: { type: 'array', items: { ...integer, ...rules('self == oldSelf') } } } },
      'oldSelf cannot be used on the uncorrelatable portion of the schema within spec.validation.openAPIV3Schema.properties[spec].properties[a]',
    ],
    [
      { properties: { a: { ...integer, default: 0, ...rules('self > 1') } } },
      'Invalid value: 0: failed rule: self > 1',
    ],
    [
      { properties: { a: integer }, ...rules({ rule: 'self.a > 1', fieldPath: '.b' }) },
      'must be a valid path',
    ],
  ]
  for (const [spec, message] of table) {
    const body = definition('wrong', { type: 'object', ...(spec as object) })
    const answer = await call({ method: 'POST', path: `${definitions}?dryRun=All`, body })
    assert.equal(answer.status, 422)
    assert.ok(
      answer.causes.some((cause) => cause.includes(message)),
      answer.causes.join('\n'),
    )
  }
})
