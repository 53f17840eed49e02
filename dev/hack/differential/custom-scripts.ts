import { stepText, type Step } from './kind-scripts.ts'
import { createRandom, type Random } from '../../differential/seeded-choices.ts'

type Fields = Record<string, unknown>

const depthMax = 3
const stepsPerDefinition = 24

/**
 * Generates definitions with random schemas, and `count` requests about their objects: valid ones, and ones
 * with one fault. Returns the text of a script with that name, the same for each seed.
 */
export function generateCustomScript({
  seed,
  count,
  name,
}: {
  seed: number
  count: number
  name: string
}): string {
  const random = createRandom(seed)
  const steps: Step[] = []
  for (let definition = 1; steps.length < count; definition += 1) {
    const target = targetOf(definition, name, random)
    steps.push(...definitionSteps(target))
    for (let at = 0; at < stepsPerDefinition && steps.length < count; at += 1) {
      const step = random.pick(makers)(target, random)
      steps.push({ ...step, name: `${steps.length + 1} ${target.kind}: ${step.name}` })
    }
  }
  const title = `# Random definitions and objects of seed ${seed}. Written by dev/hack/differential.ts custom.`
  return [title, ...steps.map(stepText)].join('\n\n') + '\n'
}

interface Target {
  readonly group: string
  readonly kind: string
  readonly plural: string
  readonly spec: Fields
}

function targetOf(number: number, script: string, random: Random): Target {
  const spec = { ...objectSchema(random, 0), type: 'object' }
  return { group: `${script}.example.com`, kind: `Kind${number}`, plural: `kind${number}s`, spec }
}

function definitionSteps({ group, kind, plural, spec }: Target): Step[] {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const name = `${plural}.${group}`
  const properties = { spec, status: { type: 'object', properties: { n: { type: 'integer' } } } }
  const schema = { openAPIV3Schema: { type: 'object', properties } }
  const version = { name: 'v1', served: true, storage: true, subresources: { status: {} }, schema }
  const body = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name },
    spec: { group, scope: 'Cluster', names: { plural, kind }, versions: [version] },
  }
  const until = { Until: 'status.conditions.1.status = True' }
  const served = { Until: `kind = ${kind}List` }
  return [
    { name: `${kind} is defined`, request: `POST ${path}`, body },
    { name: `${kind} is established`, request: `GET ${path}/${name}`, headers: until },
    { name: `${kind} is served`, request: `GET /apis/${group}/v1/${plural}`, headers: served },
  ]
}

// Schemas that a server accepts.

const leafSchemas: readonly ((random: Random) => Fields)[] = [
  (random) => ({
    type: 'string',
    ...some(random, { minLength: 2, maxLength: 5, pattern: '^[a-z]*$' }),
  }),
  (random) => ({ type: 'string', enum: ['a', 'bb', 'c'], ...some(random, { default: 'a' }) }),
  (random) => ({ type: 'string', format: random.pick(formats) }),
  (random) => ({ type: 'string', ...some(random, { default: 'dflt', nullable: true }) }),
  (random) => ({
    type: 'integer',
    ...some(random, { minimum: 1, maximum: 10, multipleOf: 2, format: 'int32' }),
    ...some(random, { default: 4 }),
  }),
  (random) => ({
    type: 'integer',
    minimum: 0,
    maximum: 9,
    ...some(random, { exclusiveMinimum: true, exclusiveMaximum: true }),
  }),
  (random) => ({
    type: 'number',
    ...some(random, { minimum: 0.5, maximum: 2.5, multipleOf: 0.5 }),
  }),
  (random) => ({ type: 'boolean', ...some(random, { default: true, nullable: true }) }),
  (random) => ({
    'x-kubernetes-int-or-string': true,
    ...some(random, { default: '10%', pattern: '^[0-9]+%?$' }),
  }),
  () => ({ 'x-kubernetes-preserve-unknown-fields': true }),
  () => ({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }),
  (random) => ({ type: 'integer', ...junctions(random) }),
  (random) => ({ type: 'string', ...textRule(random), maxLength: 20 }),
  (random) => ({ type: 'integer', ...numberRule(random) }),
]

const formats = [
  'bsonobjectid',
  'byte',
  'cidr',
  'date',
  'date-time',
  'datetime',
  'double',
  'duration',
  'email',
  'hexcolor',
  'hostname',
  'ipv4',
  'ipv6',
  'isbn',
  'isbn10',
  'k8s-long-name',
  'k8s-short-name',
  'mac',
  'password',
  'rgbcolor',
  'ssn',
  'uri',
  'uuid',
  'uuid4',
]

/** Each with a chance of one half. */
function some(random: Random, fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(() => random.below(2) === 0))
}

function junctions(random: Random): Fields {
  const parts = [{ minimum: 3 }, { maximum: 7 }, { multipleOf: 5 }]
  const junction = random.pick(['anyOf', 'oneOf', 'allOf', 'not'])
  return { [junction]: junction === 'not' ? random.pick(parts) : parts }
}

function textRule(random: Random): Fields {
  return rules(random, [
    { rule: "self.startsWith('a')", message: 'starts with an a' },
    { rule: 'self == oldSelf', message: 'stays' },
    { rule: 'self.size() > 1', messageExpression: "'too short: ' + self" },
    { rule: "self != 'b'", reason: 'FieldValueForbidden' },
    { rule: "!oldSelf.hasValue() || oldSelf.value() != 'a'", optionalOldSelf: true },
  ])
}

function numberRule(random: Random): Fields {
  return rules(random, [
    { rule: 'self > 0' },
    { rule: 'self >= oldSelf', message: 'only grows' },
    { rule: '10 / self > 1', reason: 'FieldValueDuplicate' },
    { rule: 'self % 2 == 0', messageExpression: "string(self) + ' is odd'" },
  ])
}

function rules(random: Random, all: readonly Fields[]): Fields {
  const picked = all.filter(() => random.below(3) === 0)
  return picked.length === 0 ? {} : { 'x-kubernetes-validations': picked }
}

function schemaOf(random: Random, depth: number): Fields {
  const kind = depth >= depthMax ? 0 : random.below(7)
  if (kind === 4) return objectSchema(random, depth)
  if (kind === 5) return listSchema(random, depth)
  if (kind === 6) return mapSchema(random, depth)
  return random.pick(leafSchemas)(random)
}

const names = ['a', 'b', 'c', 'd', 'e']

function objectSchema(random: Random, depth: number): Fields {
  if (depth > 0 && random.below(6) === 0) return embeddedSchema(random)
  const keys = names.filter(() => depth === 0 || random.below(2) === 0)
  const properties = Object.fromEntries(keys.map((key) => [key, schemaOf(random, depth + 1)]))
  if (keys.length === 0) return { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const [first = ''] = keys
  return {
    type: 'object',
    properties,
    ...some(random, { 'x-kubernetes-map-type': random.pick(['atomic', 'granular']) }),
    ...(random.below(3) === 0 ? { required: [first] } : {}),
    ...(random.below(6) === 0 ? { 'x-kubernetes-preserve-unknown-fields': true } : {}),
    ...(depth > 0 && random.below(5) === 0 ? { nullable: true } : {}),
    ...(random.below(4) === 0
      ? { 'x-kubernetes-validations': [{ rule: `has(self.${first})`, fieldPath: `.${first}` }] }
      : {}),
  }
}

function embeddedSchema(random: Random): Fields {
  return {
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    ...(random.below(2)
      ? { 'x-kubernetes-preserve-unknown-fields': true }
      : { properties: { spec: { type: 'object', properties: { a: { type: 'string' } } } } }),
  }
}

function listSchema(random: Random, depth: number): Fields {
  const bounds = { maxItems: 4, ...some(random, { minItems: 1 }) }
  const type = random.pick(['atomic', 'set', 'map', undefined])
  if (type === 'map') {
    const more = schemaOf(random, depth + 1)
    const properties = { key: { type: 'string' }, num: { type: 'integer', default: 1 }, more }
    const items = { type: 'object', required: ['key'], properties }
    const keys = { 'x-kubernetes-list-map-keys': random.pick([['key'], ['key', 'num']]) }
    return { type: 'array', ...bounds, items, 'x-kubernetes-list-type': 'map', ...keys }
  }
  if (type === 'set') {
    const items = { type: random.pick(['string', 'integer']) }
    return { type: 'array', ...bounds, items, 'x-kubernetes-list-type': 'set' }
  }
  const items = schemaOf(random, depth + 1)
  return {
    type: 'array',
    ...bounds,
    items,
    ...(type === undefined ? {} : { 'x-kubernetes-list-type': type }),
  }
}

function mapSchema(random: Random, depth: number): Fields {
  const additionalProperties = schemaOf(random, depth + 1)
  return {
    type: 'object',
    maxProperties: 3,
    ...some(random, { minProperties: 1 }),
    additionalProperties,
  }
}

// Values that are used now and then instead of the schema's own.

const odd: readonly unknown[] = [
  null,
  '',
  'a',
  'Bad_Name',
  'x'.repeat(30),
  0,
  1,
  -3,
  11,
  2.5,
  2 ** 31,
  2 ** 53,
  true,
  [],
  {},
  ['a', 'a'],
  { zz: 1 },
  [null],
]

const texts = ['a', 'bb', 'abc', 'aa', '10%', '2024-01-01', '2024-01-01T00:00:00Z', 'YWI=', '1h']
  .concat([
    '10.0.0.1',
    '10.0.0.0/8',
    'a@example.com',
    'example.com',
    '#ffffff',
    '00:11:22:33:44:55',
  ])
  .concat([
    'http://example.com/a',
    'rgb(1,2,3)',
    '123e4567-e89b-12d3-a456-426614174000',
    '978-3-16-148410-0',
  ])

function valueOf(schema: Fields, random: Random, oddness: number): unknown {
  if (random.below(100) < oddness) return random.pick(odd)
  if (Array.isArray(schema['enum'])) return random.pick(schema['enum'])
  if (schema['x-kubernetes-int-or-string']) return random.pick([5, '10%'])
  switch (schema['type']) {
    case 'string':
      return random.pick(texts)
    case 'integer':
      return random.pick([1, 2, 3, 4, 5, 6, 8])
    case 'number':
      return random.pick([1, 0.5, 1.5, 2])
    case 'boolean':
      return random.below(2) === 0
    case 'array':
      return Array.from({ length: 1 + random.below(2) }, () =>
        valueOf(fieldsOf(schema['items']), random, oddness),
      )
    case 'object':
      return objectOf(schema, random, oddness)
    default:
      return random.pick([1, 'a', { free: [1] }, null])
  }
}

function objectOf(schema: Fields, random: Random, oddness: number): Fields {
  const result: Fields = {}
  const { properties, additionalProperties } = schema
  if (schema['x-kubernetes-embedded-resource'] && random.below(5) > 0) {
    Object.assign(result, { apiVersion: 'v1', kind: 'Any', metadata: random.pick(metadatas) })
  }
  for (const [key, inner] of Object.entries(fieldsOf(properties))) {
    if (random.below(4) > 0) result[key] = valueOf(fieldsOf(inner), random, oddness)
  }
  if (additionalProperties) {
    result['k1'] = valueOf(fieldsOf(additionalProperties), random, oddness)
    if (random.below(2)) result['k2'] = valueOf(fieldsOf(additionalProperties), random, oddness)
  }
  if (random.below(100) < oddness) result['unknown'] = random.pick(odd)
  return result
}

const metadatas: readonly unknown[] = [
  { name: 'a' },
  { name: 'A_b', labels: { a: 'b' } },
  { labels: { 'bad key': 'x' }, unknown: 1 },
  { labels: { a: 1 } },
  {},
  null,
]

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

// Requests.

type Maker = (target: Target, random: Random) => Step

const makers: readonly Maker[] = [
  create,
  create,
  replace,
  replace,
  merge,
  merge,
  apply,
  apply,
  jsonPatch,
  status,
  remove,
]
const oddnesses = [0, 0, 4, 10]
const options = ['', '', '', 'fieldValidation=Strict', 'fieldValidation=Ignore', 'dryRun=All']
const objectNames = ['one', 'two']

function collectionOf({ group, plural }: Target): string {
  return `/apis/${group}/v1/${plural}`
}

function bodyOf(target: Target, random: Random, name: string): Fields {
  const spec = valueOf(target.spec, random, random.pick(oddnesses))
  return { apiVersion: `${target.group}/v1`, kind: target.kind, metadata: { name }, spec }
}

function asked(random: Random): string {
  const query = random.pick(options)
  return query === '' ? '' : `?${query}`
}

function create(target: Target, random: Random): Step {
  const body = bodyOf(target, random, random.pick(objectNames))
  return { name: 'create', request: `POST ${collectionOf(target)}${asked(random)}`, body }
}

function replace(target: Target, random: Random): Step {
  const name = random.pick(objectNames)
  const body = { ...bodyOf(target, random, name) }
  // A custom resource cannot be replaced without a version. A merge patch of the whole spec is the nearest
  // request.
  const headers = { 'Content-Type': 'application/merge-patch+json' }
  const spec = { spec: body['spec'] }
  return {
    name: 'replace spec',
    request: `PATCH ${collectionOf(target)}/${name}${asked(random)}`,
    headers,
    body: spec,
  }
}

function merge(target: Target, random: Random): Step {
  const properties = fieldsOf(target.spec['properties'])
  const key = random.pick([...Object.keys(properties), 'unknown'])
  const value = valueOf(fieldsOf(properties[key]), random, random.pick(oddnesses))
  return {
    name: `merge ${key}`,
    request: `PATCH ${collectionOf(target)}/${random.pick(objectNames)}${asked(random)}`,
    headers: { 'Content-Type': 'application/merge-patch+json' },
    body: { spec: { [key]: value } },
  }
}

function jsonPatch(target: Target, random: Random): Step {
  const properties = fieldsOf(target.spec['properties'])
  const key = random.pick(Object.keys(properties))
  const value = valueOf(fieldsOf(properties[key]), random, random.pick(oddnesses))
  const op = random.pick(['add', 'replace', 'remove'])
  const body = [{ op, path: `/spec/${key}`, ...(op === 'remove' ? {} : { value }) }]
  return {
    name: `${op} ${key}`,
    request: `PATCH ${collectionOf(target)}/${random.pick(objectNames)}`,
    headers: { 'Content-Type': 'application/json-patch+json' },
    body,
  }
}

function apply(target: Target, random: Random): Step {
  const name = random.pick(objectNames)
  const force = random.below(2) ? '&force=true' : ''
  const manager = random.pick(['m1', 'm2'])
  return {
    name: `apply by ${manager}`,
    request: `PATCH ${collectionOf(target)}/${name}?fieldManager=${manager}${force}`,
    headers: { 'Content-Type': 'application/apply-patch+yaml' },
    body: bodyOf(target, random, name),
  }
}

function status(target: Target, random: Random): Step {
  return {
    name: 'status',
    request: `PATCH ${collectionOf(target)}/${random.pick(objectNames)}/status`,
    headers: { 'Content-Type': 'application/merge-patch+json' },
    body: { status: { n: random.pick([1, 'x', 2.5, null]) }, spec: { a: 'ignored' } },
  }
}

function remove(target: Target, random: Random): Step {
  return { name: 'delete', request: `DELETE ${collectionOf(target)}/${random.pick(objectNames)}` }
}
