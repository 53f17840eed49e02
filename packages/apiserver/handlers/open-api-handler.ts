import {
  describedLikeAll,
  loadDescriptions,
  openApiV2Document,
  openApiV3Document,
  openApiV3Index,
  type OpenApiInput,
} from '@skerry/discovery'
import {
  acceptsOpenApiV2Protobuf,
  encodeOpenApiV2Document,
  openApiV2ProtobufType,
} from '../protobuf/open-api-v2-protobuf.ts'
import type { Kind } from '@skerry/api'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { jsonAnswer, textAnswer, type ApiAnswer, type ApiRequest } from '../contract/exchange.ts'
import type { Aggregation } from '../aggregation/aggregation.ts'
import type { OpenApiV2Part } from '../aggregation/aggregated-api.ts'
import type { AuthorizedRequest } from '../contract/authorized-request.ts'
import type { ServedKinds } from '../registry/served-kinds.ts'

const pack = promisify(gzip)
const unpack = promisify(gunzip)
const utf8 = new TextEncoder()

export type OpenApiHandler = (
  call: AuthorizedRequest,
  parts: readonly string[],
) => Promise<ApiAnswer>

interface Document {
  readonly contentType: string
  readonly packed: Uint8Array
  readonly etag: string
}

/**
 * Serves /openapi/v2 and /openapi/v3. Documents are made at the first request and kept compressed
 * while the served kinds stay the same: that takes a tenth of the memory, and most clients ask for
 * gzip anyway.
 */
export function createOpenApiHandler(
  kinds: ServedKinds,
  customSchema: (kind: Kind) => unknown,
  aggregation?: Aggregation,
): OpenApiHandler {
  const versionNow = (): number => kinds.version + (aggregation?.version() ?? 0)
  let known = { version: -1, documents: new Map<string, Promise<Document | undefined>>() }
  const documentOf = (key: string, make: () => Promise<Document | undefined>) => {
    if (known.version !== versionNow()) known = { version: versionNow(), documents: new Map() }
    const found = known.documents.get(key)
    if (found) return found
    const made = make()
    known.documents.set(key, made)
    return made
  }
  const input = (): OpenApiInput => ({ kinds: kinds.inOrder(), customSchema })
  return async (call, [, version, ...rest]) => {
    const { request } = call
    if (version === 'v3' && rest.length === 0) {
      const { paths } = openApiV3Index(input())
      return jsonAnswer(200, { paths: { ...paths, ...aggregation?.openApiV3Paths() } })
    }
    if (version === 'v3') {
      const aggregated = await aggregation?.openApiV3(rest.join('/'), call)
      if (aggregated) return aggregated
    }
    const accept = request.headers['accept'] ?? ''
    const isProtobuf = version === 'v2' && acceptsOpenApiV2Protobuf(accept)
    const path = rest.join('/')
    const make = async () =>
      version === 'v3'
        ? groupVersionDocument(input(), path)
        : wholeDocument(input(), isProtobuf, (await aggregation?.openApiV2Parts(call.signal)) ?? [])
    const isKnown = version === 'v3' || (version === 'v2' && rest.length === 0)
    if (!isKnown) return textAnswer(404, '404 page not found\n')
    const document = await documentOf(`${version} ${isProtobuf} ${path}`, make)
    if (document) return documentAnswer(document, request)
    return { status: 404, headers: {}, body: new Uint8Array() }
  }
}

async function groupVersionDocument(
  input: OpenApiInput,
  path: string,
): Promise<Document | undefined> {
  const [group, version] = path.startsWith('apis/')
    ? path.slice('apis/'.length).split('/')
    : ['', path.slice('api/'.length)]
  const members = input.kinds.filter((kind) => kind.group === group && kind.version === version)
  const described = await withDescriptions(input, members)
  const value = openApiV3Document(described, path)
  return value && toDocument('application/json', utf8.encode(JSON.stringify(value)))
}

/** If definitions have the same name, this server's own take precedence. */
async function wholeDocument(
  input: OpenApiInput,
  isProtobuf: boolean,
  parts: readonly OpenApiV2Part[],
): Promise<Document> {
  const own = openApiV2Document(await withDescriptions(input, input.kinds))
  const value = parts.reduce(withPart, own)
  return isProtobuf
    ? toDocument(openApiV2ProtobufType, encodeOpenApiV2Document(value))
    : toDocument('application/json', utf8.encode(JSON.stringify(value)))
}

function withPart(
  document: ReturnType<typeof openApiV2Document>,
  part: OpenApiV2Part,
): ReturnType<typeof openApiV2Document> {
  return {
    ...document,
    paths: { ...Object(document['paths']), ...part.paths },
    definitions: { ...part.definitions, ...Object(document['definitions']) },
  }
}

async function toDocument(contentType: string, bytes: Uint8Array): Promise<Document> {
  const hash = createHash('sha512').update(bytes).digest('hex').toUpperCase()
  return { contentType, packed: await pack(bytes), etag: `"${hash}"` }
}

/** Descriptions are loaded for each document: they are large, and each document is made once. */
async function withDescriptions(
  input: OpenApiInput,
  kinds: readonly Kind[],
): Promise<OpenApiInput> {
  const definitions = new Set(kinds.flatMap(({ schemas }) => Object.keys(schemas)))
  if (kinds.some(({ isCustom }) => isCustom))
    for (const name of describedLikeAll) definitions.add(name)
  return { ...input, descriptions: await loadDescriptions(definitions, readDeclarations) }
}

async function readDeclarations(file: string): Promise<string | undefined> {
  try {
    return await readFile(
      createRequire(import.meta.url).resolve(`kubernetes-types/${file}`),
      'utf8',
    )
  } catch (error) {
    // The package is not installed, or lacks the group. Documents then have no descriptions.
    const code = error instanceof Error && 'code' in error ? error.code : ''
    if (code === 'MODULE_NOT_FOUND' || code === 'ERR_PACKAGE_PATH_NOT_EXPORTED') return undefined
    if (code === 'ENOENT') return undefined
    throw error
  }
}

async function documentAnswer(
  { contentType, packed, etag }: Document,
  { headers }: ApiRequest,
): Promise<ApiAnswer> {
  const common = { 'content-type': contentType, etag, vary: 'Accept-Encoding, Accept' }
  if (headers['if-none-match'] === etag)
    return { status: 304, headers: common, body: new Uint8Array() }
  if (/\bgzip\b/.test(headers['accept-encoding'] ?? '')) {
    return { status: 200, headers: { ...common, 'content-encoding': 'gzip' }, body: packed }
  }
  return { status: 200, headers: common, body: await unpack(packed) }
}
