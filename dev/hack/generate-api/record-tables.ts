/**
 * Records what an upstream API server prints of packages/kinds/columns/testdata/table-objects.yaml:
 *   NODE_EXTRA_CA_CERTS=ca.crt node dev/hack/generate-api/record-tables.ts --server URL --token TOKEN
 * The server needs no controllers; the objects are made in a namespace of their own and removed.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { parse } from 'yaml'
import { builtinKinds, type Table } from '@skerry/kinds'
import type { AnyObject, Kind } from '@skerry/api'

const namespace = 'columns'
const testdata = join(import.meta.dirname, '../../../packages/kinds/columns/testdata')

const { values } = parseArgs({
  options: { server: { type: 'string', default: '' }, token: { type: 'string', default: '' } },
})

interface Fixture extends AnyObject {
  /** Whether the object is deleted before it is shown; a finalizer keeps it. */
  isDeleted?: boolean
}

const kinds = await builtinKinds()
// The file is ours and holds a list of objects.
const fixtures = parse(readFileSync(join(testdata, 'table-objects.yaml'), 'utf8'), {
  merge: true,
}) as Fixture[]
await ask('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
const recorded: object[] = []
try {
  for (const fixture of fixtures) {
    const table = await record(fixture).catch((cause: unknown) => {
      console.error(`Cannot record ${fixture.kind} ${fixture.metadata.name}:`, cause)
      return undefined
    })
    if (table) recorded.push(table)
  }
} finally {
  for (const fixture of fixtures.toReversed()) await remove(fixture)
  const going = await ask('DELETE', `/api/v1/namespaces/${namespace}`)
  await ask('PUT', `/api/v1/namespaces/${namespace}/finalize`, { ...going, spec: {} })
}
const lines = recorded.map((one) => JSON.stringify(one))
writeFileSync(join(testdata, 'tables.json'), `[\n${lines.join(',\n')}\n]\n`)
console.log(`tables.json: ${recorded.length} rows`)

async function record({ isDeleted, ...fixture }: Fixture): Promise<object> {
  const kind = kindOf(fixture)
  const path = pathOf(fixture)
  const created = await ask('POST', path.slice(0, path.lastIndexOf('/')), fixture)
  if (fixture['status'] !== undefined) {
    await ask('PUT', `${path}/status`, { ...created, status: fixture['status'] })
  }
  if (isDeleted) await ask('DELETE', path)
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
  const { body, dateMs } = await send('GET', `${path}?includeObject=Object`, { accept })
  // The media type that was asked for.
  const table = body as Table
  const [row] = table.rows
  const object = row?.object
  if (!row || !object) throw new Error('the table has no row')
  delete object.metadata.managedFields
  return {
    group: kind.group,
    version: kind.version,
    kind: kind.kind,
    nowMs: dateMs,
    columns: table.columnDefinitions?.map(({ name, type, format, priority }) => ({
      name,
      type,
      format,
      priority,
    })),
    cells: row.cells,
    ...(row.conditions ? { conditions: row.conditions } : {}),
    object,
  }
}

async function remove(fixture: Fixture): Promise<void> {
  const path = pathOf(fixture)
  const patch = { metadata: { finalizers: null } }
  // Each may find that the object is gone, or never was; the next recording fails if it is still there.
  await ask('PATCH', path, patch).catch(() => undefined)
  await ask('DELETE', `${path}?gracePeriodSeconds=0`).catch(() => undefined)
  await ask('PATCH', path, patch).catch(() => undefined)
}

function kindOf({ apiVersion, kind }: AnyObject): Kind {
  const [version = '', group = ''] = apiVersion.split('/').toReversed()
  const found = kinds.find(
    (one) => one.group === group && one.version === version && one.kind === kind,
  )
  if (!found) throw new Error(`Cannot find kind: ${apiVersion} ${kind} is not built in`)
  return found
}

function pathOf(object: AnyObject): string {
  const kind = kindOf(object)
  const base = kind.group === '' ? '/api' : '/apis'
  const scope = kind.isNamespaced ? `/namespaces/${namespace}` : ''
  return `${base}/${object.apiVersion}${scope}/${kind.resource}/${object.metadata.name}`
}

async function ask(method: string, path: string, body?: object): Promise<AnyObject> {
  const { body: answer } = await send(method, path, body === undefined ? {} : { body })
  // Every answer of the API is an object.
  return answer as AnyObject
}

async function send(
  method: string,
  path: string,
  { body, accept = 'application/json' }: { body?: object; accept?: string },
): Promise<{ body: unknown; dateMs: number }> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const headers = { authorization: `Bearer ${values.token}`, accept, 'content-type': type }
  const answer = await fetch(`${values.server}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return { body: JSON.parse(text), dateMs: Date.parse(answer.headers.get('date') ?? '') }
}
