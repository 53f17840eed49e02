import {
  acceptsOpenApiV2Protobuf,
  encodeOpenApiV2Document,
  loadDescriptions,
  openApiV2Document,
  openApiV2ProtobufType,
  openApiV3Document,
  openApiV3Index,
  type Kind,
  type OpenApiInput,
} from '@skerry/api'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { jsonAnswer, textAnswer, type ApiAnswer, type ApiRequest } from '../http/exchange.ts'
import type { ServedKinds } from '../registry/served-kinds.ts'

const pack = promisify(gzip)
const unpack = promisify(gunzip)
const utf8 = new TextEncoder()

export type OpenApiHandler = (request: ApiRequest, parts: readonly string[]) => Promise<ApiAnswer>

interface Document {
  readonly contentType: string
  readonly packed: Uint8Array
  readonly etag: string
}

/**
 * /openapi/v2 and /openapi/v3. Documents are made when first asked for and kept compressed while
 * the served kinds stay the same: a tenth of the memory, and what most clients take anyway.
 */
export function createOpenApiHandler(
  kinds: ServedKinds,
  customSchema: (kind: Kind) => unknown,
): OpenApiHandler {
  let known = { version: -1, documents: new Map<string, Promise<Document | undefined>>() }
  const documentOf = (key: string, make: () => Promise<Document | undefined>) => {
    if (known.version !== kinds.version) known = { version: kinds.version, documents: new Map() }
    const found = known.documents.get(key)
    if (found) return found
    const made = make()
    known.documents.set(key, made)
    return made
  }
  const input = (): OpenApiInput => ({ kinds: kinds.inOrder(), customSchema })
  return async (request, [, version, ...rest]) => {
    if (version === 'v3' && rest.length === 0) return jsonAnswer(200, openApiV3Index(input()))
    const accept = request.headers['accept'] ?? ''
    const isProtobuf = version === 'v2' && acceptsOpenApiV2Protobuf(accept)
    const path = rest.join('/')
    const make = () =>
      version === 'v3' ? groupVersionDocument(input(), path) : wholeDocument(input(), isProtobuf)
    const isKnown = version === 'v3' || (version === 'v2' && rest.length === 0)
    if (!isKnown) return textAnswer(404, '404 page not found\n')
    const document = await documentOf(`${version} ${isProtobuf} ${path}`, make)
    return document ? documentAnswer(document, request) : textAnswer(404, '404 page not found\n')
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

async function wholeDocument(input: OpenApiInput, isProtobuf: boolean): Promise<Document> {
  const value = openApiV2Document(await withDescriptions(input, input.kinds))
  return isProtobuf
    ? toDocument(openApiV2ProtobufType, encodeOpenApiV2Document(value))
    : toDocument('application/json', utf8.encode(JSON.stringify(value)))
}

async function toDocument(contentType: string, bytes: Uint8Array): Promise<Document> {
  const hash = createHash('sha256').update(bytes).digest('hex').toUpperCase()
  return { contentType, packed: await pack(bytes), etag: `"${hash}"` }
}

/** Read anew for each document: they are large, and documents are made once. */
async function withDescriptions(
  input: OpenApiInput,
  kinds: readonly Kind[],
): Promise<OpenApiInput> {
  const definitions = kinds.flatMap(({ schemas }) => Object.keys(schemas))
  return { ...input, descriptions: await loadDescriptions(new Set(definitions), readDeclarations) }
}

async function readDeclarations(file: string): Promise<string | undefined> {
  try {
    return await readFile(
      createRequire(import.meta.url).resolve(`kubernetes-types/${file}`),
      'utf8',
    )
  } catch (error) {
    // Not installed, or a group it does not know: documents then carry no sentences.
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
