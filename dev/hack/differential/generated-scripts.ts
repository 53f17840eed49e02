import { readFileSync } from 'node:fs'
import { builtinKinds } from '@skerry/kinds'
import type { Kind, Schema, SchemaSet } from '@skerry/api'
import { parse } from 'yaml'
import { stepText, subjectOf, type KindExample, type Step } from './kind-scripts.ts'
import { createRandom, type Random } from '../../differential/seeded-choices.ts'

/** Kinds that change how a server works, so that a random one would spoil all later requests. */
const excluded: ReadonlySet<string> = new Set([
  'APIService',
  'CustomResourceDefinition',
  'FlowSchema',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
  'MutatingWebhookConfiguration',
  'Namespace',
  'PriorityLevelConfiguration',
  'ServiceCIDR',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'ValidatingWebhookConfiguration',
])

type Fields = Record<string, unknown>

interface Target {
  readonly kind: Kind
  readonly example: Fields
  readonly collection: string
  /** The names of the objects in requests; few, so that requests meet. */
  readonly names: readonly string[]
}

/** Generates this many random requests, the same for a seed; returns the text of a script of that name. */
export async function generateScript(
  { seed, count, name }: { seed: number; count: number; name: string },
  examplesPath: string,
): Promise<string> {
  const random = createRandom(seed)
  const targets = await targetsOf(examplesPath, name)
  const steps: Step[] = []
  // A few kinds at a time, so that their objects have a history.
  while (steps.length < count) {
    const target = random.pick(targets)
    const writes = 8 + random.below(8)
    for (let at = 0; at < writes && steps.length < count; at += 1) {
      const made = random.pick(makers)(target, random)
      steps.push({ ...made, name: `${steps.length + 1} ${target.kind.kind}: ${made.name}` })
    }
  }
  const title = `# Random requests of seed ${seed}. Written by dev/hack/differential.ts generate.`
  return [title, ...steps.map(stepText)].join('\n\n') + '\n'
}

async function targetsOf(examplesPath: string, script: string): Promise<Target[]> {
  // The file has this shape, which is also declared next to the function that reads it.
  const examples = parse(readFileSync(examplesPath, 'utf8')) as KindExample[]
  const kinds = await builtinKinds()
  return examples.flatMap((example) => {
    const kind = kinds.find(
      (each) =>
        each.kind === example.kind &&
        (each.group === '' ? each.version : `${each.group}/${each.version}`) === example.apiVersion,
    )
    if (!kind || excluded.has(kind.kind) || example.name !== undefined) return []
    const { collection } = subjectOf(kind, example).subject
    const names = ['a', 'b'].map((end) => (kind.isNamespaced ? end : `${script}-${end}`))
    const { labels, status, settled: _settled, immutable: _immutable, ...rest } = example
    const metadata = { labels: { script: '${ns}', ...labels } }
    const whole = { ...rest, metadata, ...(status ? { status } : {}) }
    return [{ kind, example: whole, collection, names }]
  })
}

type Maker = (target: Target, random: Random) => Step

/** Creates twice, since all others need an object. */
const makers: readonly Maker[] = [
  create,
  create,
  create,
  replace,
  mergePatch,
  mergePatch,
  strategicPatch,
  jsonPatch,
  apply,
  apply,
  apply,
  part,
  read,
  list,
  remove,
]

const options = ['', '', '', 'dryRun=All', 'fieldValidation=Strict', 'fieldManager=other']

function create(target: Target, random: Random): Step {
  const { body, what } = changedExample(target, random)
  const query = random.pick([...options, 'fieldValidation=Ignore', 'dryRun=Some'])
  return { name: `create${what}`, request: `POST ${target.collection}${asked(query)}`, body }
}

function replace(target: Target, random: Random): Step {
  const { body, what } = changedExample(target, random)
  const name = nameOf(body)
  const request = `PUT ${target.collection}/${name}${asked(random.pick(options))}`
  return { name: `replace${what}`, request, body }
}

function mergePatch(target: Target, random: Random): Step {
  return patchOf('merge', target, random)
}

function strategicPatch(target: Target, random: Random): Step {
  return patchOf('strategic-merge', target, random)
}

function patchOf(type: string, target: Target, random: Random): Step {
  const { body, what } = changedPart(target, random)
  return {
    name: `${type} patch${what}`,
    request: `PATCH ${pathOf(target, random)}${asked(random.pick(options))}`,
    headers: { 'Content-Type': `application/${type}-patch+json` },
    body,
  }
}

function jsonPatch(target: Target, random: Random): Step {
  const places = placesOf(target.example)
  const operations = Array.from({ length: 1 + random.below(2) }, () => {
    const place = random.pick(places).map((key) => String(key).replaceAll('~', '~0'))
    const path = `/${place.map((key) => key.replaceAll('/', '~1')).join('/')}`
    const op = random.pick(['add', 'remove', 'replace', 'test', 'copy', 'move'])
    if (op === 'remove') return { op, path }
    if (op === 'copy' || op === 'move') return { op, from: path, path: '/metadata/labels/x' }
    return { op, path, value: random.pick(oddValues) }
  })
  return {
    name: `json patch: ${operations.map(({ op, path }) => `${op} ${path}`).join(', ')}`,
    request: `PATCH ${pathOf(target, random)}`,
    headers: { 'Content-Type': 'application/json-patch+json' },
    body: operations,
  }
}

function apply(target: Target, random: Random): Step {
  const { body, what } = random.below(2)
    ? changedPart(target, random)
    : changedExample(target, random)
  const { apiVersion, kind } = target.example
  const name = nameOf(body) || random.pick(target.names)
  const configuration = {
    apiVersion,
    kind,
    ...body,
    metadata: { ...fieldsOf(body['metadata']), name },
  }
  const force = random.below(3) === 0 ? '&force=true' : ''
  const manager = random.pick(['one', 'two'])
  return {
    name: `apply by ${manager}${force && ' by force'}${what}`,
    request: `PATCH ${target.collection}/${name}?fieldManager=${manager}${force}`,
    headers: { 'Content-Type': 'application/apply-patch+yaml' },
    body: configuration,
  }
}

/** Requests a subresource, existing or not. */
function part(target: Target, random: Random): Step {
  const parts = target.kind.subresources
    .map(({ name }) => name)
    .filter((name) =>
      ['approval', 'ephemeralcontainers', 'resize', 'scale', 'status'].includes(name),
    )
  const name = random.pick(parts.length > 0 ? parts : ['status'])
  const path = `${pathOf(target, random)}/${name}`
  if (random.below(4) === 0) return { name: `read ${name}`, request: `GET ${path}` }
  const { body, what } =
    name === 'scale'
      ? { body: { spec: { replicas: random.pick(oddValues) } }, what: '' }
      : changedPart(target, random)
  const type = random.pick(['merge', 'strategic-merge'])
  return {
    name: `${type} patch of ${name}${what}`,
    request: `PATCH ${path}`,
    headers: { 'Content-Type': `application/${type}-patch+json` },
    body,
  }
}

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const partial = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'

function read(target: Target, random: Random): Step {
  const accept = random.pick(['', '', table, partial, 'application/yaml', 'text/html', '*/*'])
  const query = random.pick(['', '', 'pretty=true', 'resourceVersion=', 'resourceVersion=x'])
  return {
    name: 'read',
    request: `GET ${pathOf(target, random)}${asked(query)}`,
    ...(accept === '' ? {} : { headers: { Accept: accept } }),
  }
}

const listOptions = [
  'limit=1',
  'limit=-1',
  'limit=x',
  'limit=500&continue=abc',
  'resourceVersionMatch=Exact',
  'resourceVersion=0&resourceVersionMatch=Exact',
  'resourceVersionMatch=NotOlderThan',
  'resourceVersion=1&resourceVersionMatch=Other',
  'fieldSelector=metadata.name%3Da',
  'fieldSelector=metadata.name!%3Da,metadata.namespace%3D${ns}',
  'fieldSelector=metadata.labels%3Da',
  'fieldSelector=%3D',
  'timeoutSeconds=x',
  'allowWatchBookmarks=true',
  'sendInitialEvents=true',
]

const selectors = [
  'script%3D${ns}',
  'script%3D${ns},x',
  'script%3D${ns},!x',
  'script+in+(${ns},b)',
  'script%3D${ns},x+notin+(a)',
  'script%3D%3D${ns}',
  'script+in+()',
  'script%3E1',
  '%3Da',
  'a%20b',
  'script%3Da%20b',
]

function list(target: Target, random: Random): Step {
  const query = [`labelSelector=${random.pick(selectors)}`]
  if (random.below(2)) query.push(random.pick(listOptions))
  const accept = random.pick(['', '', table])
  return {
    name: 'list',
    request: `GET ${target.collection}?${query.join('&')}`,
    ...(accept === '' ? {} : { headers: { Accept: accept } }),
  }
}

const deleteOptions: readonly Fields[] = [
  {},
  { propagationPolicy: 'Orphan' },
  { propagationPolicy: 'Foreground' },
  { propagationPolicy: 'Background' },
  { propagationPolicy: 'Other' },
  { orphanDependents: true },
  { gracePeriodSeconds: 0 },
  { gracePeriodSeconds: -1 },
  { gracePeriodSeconds: 7 },
  { dryRun: ['All'] },
  { dryRun: ['Some'] },
  { preconditions: { uid: 'x' } },
  { preconditions: { resourceVersion: '1' } },
  { unknown: 1 },
  { kind: 'Other' },
  { apiVersion: 'v1', kind: 'DeleteOptions' },
]

function remove(target: Target, random: Random): Step {
  const body = random.pick(deleteOptions)
  const request = `DELETE ${pathOf(target, random)}${asked(random.pick(['', '', 'gracePeriodSeconds=0', 'propagationPolicy=Background']))}`
  return { name: 'delete', request, ...(random.below(3) ? { body } : {}) }
}

function pathOf({ collection, names }: Target, random: Random): string {
  return `${collection}/${random.pick(names)}`
}

function asked(query: string): string {
  return query === '' ? '' : `?${query}`
}

function nameOf(body: Fields): string {
  const { name } = fieldsOf(body['metadata'])
  return typeof name === 'string' && /^[a-z0-9-]+$/.test(name) ? name : ''
}

function fieldsOf(value: unknown): Fields {
  // Asked for its own type just before.
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : {}
}

/** The kind's example under one of the names, with up to two places changed. */
function changedExample(target: Target, random: Random): { body: Fields; what: string } {
  const body = structuredClone(target.example)
  body['metadata'] = { ...fieldsOf(body['metadata']), name: random.pick(target.names) }
  const changes = Array.from({ length: random.below(3) }, () => change(body, target.kind, random))
  return { body, what: changes.map((each) => `, ${each}`).join('') }
}

/** A small part of the example with a change in it, as patches have. */
function changedPart(target: Target, random: Random): { body: Fields; what: string } {
  const { body, what } = changedExample(target, random)
  const { apiVersion: _version, kind: _kind, metadata: _metadata, ...rest } = body
  const keys = Object.keys(rest)
  const key = keys.length > 0 ? random.pick(keys) : ''
  const annotations = { metadata: { annotations: { at: String(random.below(3)) } } }
  return { body: key === '' ? annotations : { [key]: rest[key] }, what }
}

type Place = readonly (string | number)[]

/** Changes one place of the object, which exists or is in its schema; returns a description. */
function change(body: Fields, { schemas, schemaName }: Kind, random: Random): string {
  const places = placesOf(body).filter(([first]) => first !== 'apiVersion' && first !== 'kind')
  if (places.length === 0) return 'with nothing left'
  const place = random.pick(places)
  const shown = place.join('.')
  const schema = schemaAt(schemas, schemaName, place)
  const how = random.below(4)
  if (how === 0) {
    setAt(body, place, undefined)
    return `without ${shown}`
  }
  if (how === 1) {
    const value = random.pick(oddValues)
    setAt(body, place, value)
    return `${shown} ${JSON.stringify(value)}`
  }
  const properties = byName(schema?.properties)
  const [key, inner] = properties.length > 0 ? random.pick(properties) : []
  if (key === undefined || inner === undefined) {
    setAt(body, place, valueOf(schema, schemas, random))
    return `another ${shown}`
  }
  setAt(body, [...place, key], valueOf(inner, schemas, random))
  return `with ${shown}.${key}`
}

const oddValues: readonly unknown[] = [
  null,
  '',
  0,
  1,
  -1,
  2.5,
  2 ** 31,
  2 ** 40,
  true,
  [],
  {},
  [null],
  { a: 'b' },
  'a',
  'Bad_Name',
  'a b',
  'ä',
  'x'.repeat(64),
  '10Mi',
  '1e3',
  '2024-01-01T00:00:00Z',
  '50%',
]

/** Lists every place below the object. */
function placesOf(value: unknown, at: Place = []): Place[] {
  const below = Array.isArray(value)
    ? value.map((item: unknown, index) => [index, item] as const)
    : Object.entries(fieldsOf(value))
  return below.flatMap(([key, item]) => [[...at, key], ...placesOf(item, [...at, key])])
}

function setAt(body: unknown, place: Place, value: unknown): void {
  const [key = '', ...rest] = place
  // Each place was read from the object itself.
  const holder = body as Record<string | number, unknown>
  if (rest.length > 0) {
    if (typeof holder[key] === 'object' && holder[key] !== null) setAt(holder[key], rest, value)
    return
  }
  if (value !== undefined) holder[key] = value
  else if (Array.isArray(holder)) holder.splice(Number(key), 1)
  else delete holder[key]
}

function schemaAt(schemas: SchemaSet, name: string, place: Place): Schema | undefined {
  let schema = schemas[name]
  for (const key of place) {
    const next: Schema | undefined =
      typeof key === 'number'
        ? schema?.items
        : (schema?.properties?.[key] ?? schema?.additionalProperties)
    schema = next?.ref === undefined ? next : schemas[next.ref]
  }
  return schema
}

const depthMax = 3

/** A value of the type, often of the right form. */
function valueOf(
  schema: Schema | undefined,
  schemas: SchemaSet,
  random: Random,
  depth = 0,
): unknown {
  const known = schema?.ref === undefined ? schema : schemas[schema.ref]
  if (!known || depth > depthMax || random.below(12) === 0) return random.pick(oddValues)
  if (known.enum) return random.pick(known.enum)
  if (known.intOrString || known.format === 'int-or-string') return random.pick([1, '25%', 'http'])
  if (known.type === 'boolean') return random.below(2) === 0
  if (known.type === 'integer' || known.type === 'number')
    return random.pick([0, 1, 2, 30, 80, -1, 70_000])
  if (known.type === 'array') {
    const length = random.below(3)
    return Array.from({ length }, () => valueOf(known.items, schemas, random, depth + 1))
  }
  if (known.type === 'object') return objectOf(known, schemas, random, depth)
  return textOf(known, random)
}

function objectOf(schema: Schema, schemas: SchemaSet, random: Random, depth: number): unknown {
  const { properties, additionalProperties, required = [] } = schema
  if (additionalProperties) return { a: valueOf(additionalProperties, schemas, random, depth + 1) }
  const result: Fields = {}
  for (const [key, inner] of byName(properties)) {
    if (!required.includes(key) && random.below(3) > 0) continue
    result[key] = valueOf(inner, schemas, random, depth + 1)
  }
  return result
}

function textOf({ format }: Schema, random: Random): string {
  if (format === 'date-time')
    return random.pick(['2024-01-01T00:00:00Z', '2024-01-01T00:00:00.000000Z', 'now'])
  if (format === 'byte') return random.pick(['YWI=', 'YQ', '-'])
  if (format === 'quantity') return random.pick(['1', '100m', '1Gi', '1.5', '-1', 'x'])
  return random.pick([
    'a',
    'example.com',
    'example.com/a',
    '/a',
    '10.0.0.1',
    'A',
    'a-b',
    'a.b',
    'TCP',
    'x'.repeat(64),
  ])
}

/** Sorts the properties, so that a seed keeps its meaning when the order of fields changes. */
function byName(properties: Schema['properties'] = {}): [string, Schema][] {
  return Object.entries(properties).toSorted(([a], [b]) => (a < b ? -1 : 1))
}
