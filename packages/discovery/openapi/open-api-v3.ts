import { groupVersionText } from '../groups/discovery.ts'
import { sha256 } from '../sha256.ts'
import type { Kind } from '@skerry/api'
import { definitionsOf, type OpenApiInput } from './definitions.ts'
import { referenceTo, type OpenApiObject } from './open-api-schema.ts'
import { pathsOf, type Operation, type PathEntry } from './operations.ts'
import { parameters } from './parameter-table.ts'

/** Changes whenever the same kinds yield different documents. */
const documentRevision = 'v1.36.3 2'

const securitySchemes = {
  BearerToken: {
    type: 'apiKey',
    description: 'Bearer Token authentication',
    name: 'authorization',
    in: 'header',
  },
}

/**
 * Answers GET /openapi/v3: the path of each group version's document, with a hash by which clients
 * cache it.
 */
export function openApiV3Index(input: OpenApiInput): { paths: Record<string, OpenApiObject> } {
  const paths = [...groupVersionsOf(input.kinds)].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return {
    paths: Object.fromEntries(
      paths.map(([path, kinds]) => {
        const serverRelativeURL = `/openapi/v3/${path}?hash=${hashOf(input, kinds)}`
        return [path, { serverRelativeURL }]
      }),
    ),
  }
}

/**
 * Answers GET /openapi/v3/<path>, e.g. `api/v1` or `apis/apps/v1`. Returns undefined if there is no
 * such group version. Each call builds it again, so keep the encoded bytes, not the object.
 */
export function openApiV3Document(input: OpenApiInput, path: string): OpenApiObject | undefined {
  const kinds = groupVersionsOf(input.kinds).get(path)
  if (!kinds) return undefined
  const paths = pathsOf(kinds)
  const isCustom = kinds.some((kind) => kind.isCustom)
  return {
    openapi: '3.0.0',
    info: isCustom
      ? { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' }
      : { title: 'Kubernetes', version: 'unversioned' },
    paths: Object.fromEntries(paths.map((entry) => [entry.path, pathItem(entry)])),
    components: {
      schemas: definitionsOf(input, { kinds, paths, dialect: 'v3' }),
      ...(isCustom ? {} : { securitySchemes }),
    },
  }
}

function groupVersionsOf(kinds: readonly Kind[]): Map<string, Kind[]> {
  const found = new Map<string, Kind[]>()
  for (const kind of kinds) {
    const prefix = kind.group === '' ? 'api' : 'apis'
    const path = `${prefix}/${groupVersionText(kind.group, kind.version)}`
    found.set(path, [...(found.get(path) ?? []), kind])
  }
  return found
}

function hashOf(input: OpenApiInput, kinds: readonly Kind[]): string {
  const facts = kinds.map((kind) => hashOfKind(kind, input))
  return hexHash(JSON.stringify([documentRevision, input.descriptions !== undefined, facts]))
}

/** Keyed by the kind object, which is replaced when its CRD changes: clients ask for the index often. */
const hashes = new WeakMap<Kind, string>()

function hashOfKind(kind: Kind, input: OpenApiInput): string {
  const known = hashes.get(kind)
  if (known !== undefined) return known
  // Built-in schemas change only with the program, whose revision stands for them.
  const schema = kind.isCustom ? (input.customSchema?.(kind) ?? kind.schemas) : undefined
  const hash = hexHash(JSON.stringify({ ...kind, schemas: schema, columns: [], strategy: {} }))
  hashes.set(kind, hash)
  return hash
}

function hexHash(text: string): string {
  const bytes = Array.from(sha256(text), (byte) => byte.toString(16).padStart(2, '0'))
  return bytes.join('').toUpperCase()
}

function pathItem(entry: PathEntry): OpenApiObject {
  const item: OpenApiObject = {}
  for (const operation of entry.operations)
    item[operation.method] = operationV3(operation, entry.tag)
  item['parameters'] = entry.parameters.map(parameterV3)
  return item
}

function operationV3(operation: Operation, tag: string): OpenApiObject {
  const { body, produces } = operation
  return {
    tags: [tag],
    description: operation.description,
    operationId: operation.id,
    ...(operation.parameters.length > 0
      ? { parameters: operation.parameters.map(parameterV3) }
      : {}),
    ...(body === undefined ? {} : { requestBody: requestBody(operation, body) }),
    responses: {
      ...Object.fromEntries(
        Object.entries(operation.answers).map(([code, definition]) => [
          code,
          answerV3(Number(code), definition, produces),
        ]),
      ),
      401: { description: 'Unauthorized' },
    },
    'x-kubernetes-action': operation.action,
    'x-kubernetes-group-version-kind': operation.kind,
  }
}

function requestBody(operation: Operation, body: string): OpenApiObject {
  const schema = referenceTo(body, 'v3')
  const content = Object.fromEntries(operation.consumes.map((type) => [type, { schema }]))
  return operation.method === 'delete' ? { content } : { content, required: true }
}

const answerWords: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' }

function answerV3(
  code: number,
  definition: string | undefined,
  types: readonly string[],
): OpenApiObject {
  const schema = definition === undefined ? { type: 'string' } : referenceTo(definition, 'v3')
  const content = types.map((type) => [type, { schema }])
  return { description: answerWords[code] ?? '', content: Object.fromEntries(content) }
}

function parameterV3(name: string): OpenApiObject {
  const parameter = parameters[name]
  if (!parameter) throw new RangeError(`Cannot describe parameter: ${name} is not known`)
  const { in: place, type, description } = parameter
  return {
    name,
    in: place,
    description,
    ...(place === 'path' ? { required: true } : {}),
    schema: { type, uniqueItems: true },
  }
}
