import { readFileSync } from 'node:fs'
import { builtinKinds } from '@skerry/kinds'
import type { Kind } from '@skerry/api'
import { parse, stringify } from 'yaml'
import { betaPrefix } from '../../differential/corpus.ts'

/** An entry of dev/differential/kind-examples.yaml. */
export interface KindExample {
  apiVersion: string
  kind: string
  /** A name for kinds whose names have a required form. */
  name?: string
  labels?: Record<string, string>
  status?: object
  /** The path of a field that upstream's API server sets some time after a create. */
  settled?: string
  /** The same after a delete that a finalizer holds up. */
  cleaned?: string
  immutable?: object
  [field: string]: unknown
}

export interface KindSubject {
  readonly kind: Kind
  readonly example: KindExample
  readonly collection: string
  readonly path: string
  readonly name: string
}

/** Returns scripts of every verb and the usual mistakes for each kind of the examples: file name to text. */
export async function kindScripts(examplesPath: string): Promise<Map<string, string>> {
  // The file has this shape, which is declared next to this function.
  const examples = parse(readFileSync(examplesPath, 'utf8')) as KindExample[]
  const kinds = await builtinKinds({ includeBeta: true })
  return new Map(
    examples.map((example) => {
      const kind = kinds.find(
        (each) =>
          each.kind === example.kind &&
          (each.group === '' ? each.version : `${each.group}/${each.version}`) ===
            example.apiVersion,
      )
      if (!kind) throw new RangeError(`Cannot write scripts: there is no ${example.kind}`)
      const { script, subject } = subjectOf(kind, example)
      return [script, scriptOf(subject)]
    }),
  )
}

export function subjectOf(
  kind: Kind,
  example: KindExample,
): { script: string; subject: KindSubject } {
  const [group = ''] = kind.group.split('.')
  const isBeta = kind.version.includes('beta')
  const same = kind.group === 'autoscaling' || isBeta ? `-${kind.version}` : ''
  const script = `${isBeta ? betaPrefix : ''}kind-${group === '' ? '' : `${group}-`}${kind.resource}${same}`
  const root = kind.group === '' ? '/api/v1' : `/apis/${kind.group}/${kind.version}`
  const collection = kind.isNamespaced
    ? `${root}/namespaces/\${ns}/${kind.resource}`
    : `${root}/${kind.resource}`
  const name = example.name ?? (kind.isNamespaced ? 'one' : `${script}-one`)
  return { script, subject: { kind, example, collection, path: `${collection}/${name}`, name } }
}

export interface Step {
  name: string
  request: string
  headers?: Record<string, string>
  body?: unknown
  captures?: Record<string, string>
}

function scriptOf(subject: KindSubject): string {
  const { kind } = subject
  const title = `# ${kind.kind} of ${subject.example.apiVersion}: every verb, and the usual mistakes. Written by dev/hack/differential.ts kinds.`
  const steps = [
    ...creations(subject),
    ...readings(subject),
    ...refusals(subject),
    ...replacements(subject),
    ...patches(subject),
    ...applications(subject),
    ...partUpdates(subject),
    ...removals(subject),
  ]
  return [title, ...steps.map(stepText)].join('\n\n') + '\n'
}

export function stepText({ name, request, headers = {}, body, captures = {} }: Step): string {
  const lines = [`### ${name}`, request]
  for (const [key, value] of Object.entries(headers)) lines.push(`${key}: ${value}`)
  if (body !== undefined) lines.push('', bodyText(body))
  const kept = Object.entries(captures).map(([variable, path]) => `> ${variable} = ${path}`)
  return [...lines, ...(kept.length > 0 ? ['', ...kept] : [])].join('\n')
}

/** Writes one line for each field of the object, so that scripts stay short. */
function bodyText(body: unknown): string {
  const flow = (value: unknown): string =>
    stringify(value, { collectionStyle: 'flow', lineWidth: 0, flowCollectionPadding: false }).trim()
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return flow(body)
  return Object.entries(body)
    .map(([key, value]) => `${key}: ${flow(value)}`)
    .join('\n')
}

function creations({ example, collection, path, name }: KindSubject): Step[] {
  const {
    name: _name,
    labels,
    settled,
    cleaned: _cleaned,
    status: _status,
    immutable: _immutable,
    ...fields
  } = example
  const { apiVersion, kind, ...rest } = fields
  const metadata = { name, labels: { script: '${ns}', ...labels } }
  const post = `POST ${collection}`
  return [
    {
      name: 'create: dry run',
      request: `${post}?dryRun=All`,
      body: { apiVersion, kind, metadata, ...rest },
    },
    {
      name: 'create',
      request: post,
      headers: { 'Based-On': 'create: dry run' },
      captures: { uid: 'metadata.uid', rv: 'metadata.resourceVersion' },
    },
    ...(settled === undefined
      ? []
      : [
          {
            name: 'settled',
            request: `GET ${path}`,
            headers: { Until: settled },
            captures: { rv: 'metadata.resourceVersion' },
          },
        ]),
    { name: 'create: it is there', request: post, headers: { 'Based-On': 'create: dry run' } },
  ]
}

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const partial = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
const partialList = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'

function readings({ path, collection }: KindSubject): Step[] {
  const selected = `GET ${collection}?labelSelector=script%3D\${ns}`
  return [
    { name: 'read', request: `GET ${path}` },
    { name: 'read: not there', request: `GET ${path}.no` },
    { name: 'read: as a table', request: `GET ${path}`, headers: { Accept: table } },
    { name: 'read: metadata only', request: `GET ${path}`, headers: { Accept: partial } },
    { name: 'list', request: selected },
    { name: 'list: as a table', request: selected, headers: { Accept: table } },
    { name: 'list: metadata only', request: selected, headers: { Accept: partialList } },
    {
      name: 'list: by a field that is none',
      request: `GET ${collection}?fieldSelector=no.such%3Da`,
    },
  ]
}

function refusals({ collection, kind }: KindSubject): Step[] {
  const headers = { 'Based-On': 'create: dry run' }
  const post = `POST ${collection}?dryRun=All`
  const two = { name: 'Bad_Name' }
  const strict = `${post}&fieldValidation=Strict`
  return [
    {
      name: 'create: unknown field',
      request: post,
      headers,
      body: { metadata: { name: 'kind-x' }, noSuchField: 1 },
    },
    { name: 'create: unknown field, strict', request: strict, headers, body: { noSuchField: 1 } },
    {
      name: 'create: unknown field, ignored',
      request: `${post}&fieldValidation=Ignore`,
      headers,
      body: { metadata: { name: 'kind-y' }, noSuchField: 1 },
    },
    {
      name: 'create: labels of a wrong type',
      request: post,
      headers,
      body: { metadata: { labels: 'no' } },
    },
    {
      name: 'create: bad label',
      request: post,
      headers,
      body: { metadata: { labels: { 'a b': '-' } } },
    },
    { name: 'create: without a name', request: post, headers, body: { metadata: { name: null } } },
    { name: 'create: bad name', request: post, headers, body: { metadata: two } },
    { name: 'create: another kind', request: post, headers, body: { kind: 'Other' } },
    { name: 'create: another version', request: post, headers, body: { apiVersion: 'other/v1' } },
    ...(kind.isNamespaced
      ? [
          {
            name: 'create: another namespace',
            request: post,
            headers,
            body: { metadata: { namespace: 'other' } },
          },
        ]
      : []),
  ]
}

function replacements({ path, example, name }: KindSubject): Step[] {
  const headers = { 'Based-On': 'create: dry run' }
  const put = `PUT ${path}`
  const merge = { 'Content-Type': 'application/merge-patch+json' }
  return [
    {
      name: 'replace',
      request: put,
      headers,
      body: { metadata: { labels: { more: 'b' }, resourceVersion: '${rv}' } },
      captures: { rv2: 'metadata.resourceVersion' },
    },
    {
      name: 'replace: an old version',
      request: put,
      headers,
      body: { metadata: { resourceVersion: '${rv}' } },
    },
    {
      name: 'replace: another name',
      request: put,
      headers,
      body: { metadata: { name: 'another' } },
    },
    { name: 'replace: another uid', request: put, headers, body: { metadata: { uid: 'no' } } },
    {
      name: 'replace: not there',
      request: `${put}.no`,
      headers,
      body: { metadata: { name: `${name}.no`, uid: 'no' } },
    },
    {
      name: 'replace: without a name',
      request: `${put}.no`,
      headers,
      body: { metadata: { name: null } },
    },
    {
      name: 'replace: nothing new',
      request: put,
      headers,
      body: { metadata: { labels: { more: 'b' } } },
    },
    ...(example.immutable
      ? [
          {
            name: 'change what may not change',
            request: `PATCH ${path}`,
            headers: merge,
            body: example.immutable,
          },
        ]
      : []),
  ]
}

function patches({ path }: KindSubject): Step[] {
  const request = `PATCH ${path}`
  const type = (name: string): Record<string, string> => ({
    'Content-Type': `application/${name}+json`,
  })
  const annotate = { metadata: { annotations: { by: 'patch' } } }
  return [
    { name: 'merge patch', request, headers: type('merge-patch'), body: annotate },
    {
      name: 'strategic patch',
      request,
      headers: type('strategic-merge-patch'),
      body: { metadata: { labels: { more: null }, finalizers: ['example.com/wait'] } },
    },
    {
      name: 'json patch',
      request,
      headers: type('json-patch'),
      body: [{ op: 'add', path: '/metadata/annotations/also', value: 'x' }],
    },
    {
      name: 'json patch: test fails',
      request,
      headers: type('json-patch'),
      body: [{ op: 'test', path: '/metadata/name', value: 'x' }],
    },
    {
      name: 'patch: not there',
      request: `${request}.no`,
      headers: type('merge-patch'),
      body: annotate,
    },
    { name: 'patch: an unknown type', request, headers: type('other-patch'), body: annotate },
  ]
}

function applications({ path, example, name }: KindSubject): Step[] {
  const headers = { 'Content-Type': 'application/apply-patch+yaml' }
  const { apiVersion, kind } = example
  const applied = (labels: Record<string, string>): object => ({
    apiVersion,
    kind,
    metadata: { name, labels },
  })
  const request = `PATCH ${path}`
  return [
    { name: 'apply: no manager', request, headers, body: applied({ mine: 'a' }) },
    {
      name: 'apply',
      request: `${request}?fieldManager=applier`,
      headers,
      body: applied({ mine: 'a' }),
    },
    {
      name: 'apply: conflict',
      request: `${request}?fieldManager=applier`,
      headers,
      body: applied({ mine: 'a', script: 'other' }),
    },
    {
      name: 'apply: leave a field',
      request: `${request}?fieldManager=applier&force=true`,
      headers,
      body: applied({ yours: 'b' }),
    },
  ]
}

function partUpdates({ kind, path, example }: KindSubject): Step[] {
  const headers = { 'Content-Type': 'application/merge-patch+json' }
  const body = {
    status: example.status ?? { noSuch: 1 },
    metadata: { annotations: { by: 'status' } },
  }
  return [
    { name: 'status: read', request: `GET ${path}/status` },
    { name: 'status: patch', request: `PATCH ${path}/status`, headers, body },
    ...(kind.subresources.some((each) => each.name === 'scale')
      ? [
          { name: 'scale: read', request: `GET ${path}/scale` },
          {
            name: 'scale: patch',
            request: `PATCH ${path}/scale`,
            headers,
            body: { spec: { replicas: 4 } },
          },
          {
            name: 'scale: negative',
            request: `PATCH ${path}/scale`,
            headers,
            body: { spec: { replicas: -4 } },
          },
        ]
      : []),
    { name: 'no such part', request: `GET ${path}/nosuch` },
  ]
}

function removals({ path, collection, example: { cleaned } }: KindSubject): Step[] {
  const request = `DELETE ${path}`
  const headers = { 'Content-Type': 'application/merge-patch+json' }
  return [
    { name: 'delete: dry run', request: `${request}?dryRun=All` },
    { name: 'delete: another uid', request, body: { preconditions: { uid: 'no' } } },
    { name: 'delete: a finalizer waits', request: `${request}?gracePeriodSeconds=0` },
    ...(cleaned === undefined
      ? []
      : [{ name: 'cleaned', request: `GET ${path}`, headers: { Until: cleaned } }]),
    {
      name: 'finalized',
      request: `PATCH ${path}`,
      headers,
      body: { metadata: { finalizers: null } },
    },
    { name: 'delete: not there', request },
    {
      name: 'watch: all that happened',
      request: `WATCH ${collection}?labelSelector=script%3D\${ns}&resourceVersion=\${rv}`,
      headers: { Events: '3' },
    },
    {
      name: 'delete the collection',
      request: `DELETE ${collection}?labelSelector=script%3D\${ns}`,
    },
    { name: 'a method that is none', request: `POST ${path}`, body: {} },
  ]
}
