import { StatusError, type AnyObject, type Kind, type ListMeta } from '@skerry/api'
import { printYaml } from '@skerry/bodies'
import { defaultColumns, partialObjectMetadata, tableOf } from '@skerry/kinds'
import { ownTurn, type Clock } from '@skerry/base'
import type { CachedObject } from '../cache/cached-object.ts'
import type { ApiAnswer } from '../contract/exchange.ts'
import type { Representation } from '../http/negotiate.ts'
import { protobufType } from '../protobuf/decode-object.ts'
import { protobufList, protobufValue } from '../protobuf/protobuf-answer.ts'
import { badRequest } from '../registry/registry-errors.ts'
import type { KindReader } from '../registry/kind-reader.ts'
import type { ListPage } from '../registry/list.ts'
import { apiServerBounds } from '../limits-table.ts'

const utf8 = new TextEncoder()
const comma = utf8.encode(',')
const openBrace = utf8.encode('{')
const listEnd = utf8.encode(']}\n')
const newline = utf8.encode('\n')

/** The form in which one client wants objects of one kind. */
export interface View {
  readonly reader: KindReader
  readonly representation: Representation
  /** The part of each object that a Table's rows include. */
  readonly includeObject: 'None' | 'Metadata' | 'Object'
  /** A client of tables asks for rows without managedFields, which are most of a row's bytes. */
  readonly omitsManagedFields: boolean
  readonly nowMs: number
  readonly chunkBytes: number
  /** Yields to the event loop between two objects of a list, and before a large one. */
  readonly clock: Clock
  readonly signal: AbortSignal
}

export function viewOf(
  reader: KindReader,
  representation: Representation,
  context: { query: URLSearchParams } & Pick<View, 'chunkBytes' | 'clock' | 'nowMs' | 'signal'>,
): View {
  const include = context.query.get('includeObject') ?? ''
  const isKnown = include === 'None' || include === 'Metadata' || include === 'Object'
  // The option matters only for Tables.
  if (!isKnown && include !== '' && representation.as === 'table') {
    throw badRequest(
      `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(include)}: must be 'Metadata', 'Object', 'None', or empty`,
    )
  }
  const { query, ...rest } = context
  const includeObject = isKnown ? include : 'Metadata'
  const omitsManagedFields = query.get('omitManagedFields') === 'true'
  return { reader, representation, includeObject, omitsManagedFields, ...rest }
}

export async function objectAnswer(
  status: number,
  cached: CachedObject,
  view: View,
): Promise<ApiAnswer> {
  const { reader, representation } = view
  await reader.prepare?.([cached], view.signal)
  if (isPlain(representation)) {
    return {
      status,
      headers: { 'content-type': 'application/json' },
      body: Buffer.concat([reader.wire(cached), newline]),
    }
  }
  if (representation.isList) throw wrongShape(reader.kind, 'PartialObjectMetadataList')
  if (cached.bytes.length > view.chunkBytes) await ownTurn(view.clock)
  return valueAnswer(status, shapedObject(cached, view), representation)
}

export async function listAnswer(page: ListPage, view: View): Promise<ApiAnswer> {
  const { reader, representation } = view
  const { kind, apiVersion } = reader
  await reader.prepare?.(page.items, view.signal)
  // Lists of custom resources have an empty continue token, as upstream's do.
  const isUntyped = kind.isCustom === true && representation.as === 'object'
  const metadata = { ...(isUntyped ? { continue: '' } : {}), ...listMeta(page) }
  if (isPlain(representation)) {
    const head = JSON.stringify({ kind: kind.listKind, apiVersion, metadata, items: [] })
    return {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: listPieces(utf8.encode(head.slice(0, -2)), page.items, view),
    }
  }
  const { as, isList, encoding } = representation
  if (as === 'partial' && !isList) throw wrongShape(kind, 'PartialObjectMetadata')
  if (encoding === 'protobuf') return protobufListAnswer(page, metadata, view)
  if (isLong(page, view)) return shapedListAnswer(page, metadata, view)
  return valueAnswer(200, shapedList(page, metadata, view), representation)
}

function isLong({ items }: ListPage, { chunkBytes }: View): boolean {
  let bytes = 0
  return items.some((item) => (bytes += item.bytes.length) > chunkBytes)
}

/**
 * Writes the list in pieces as it is read: a Table of all objects would block the server, and use
 * much memory.
 */
function shapedListAnswer(page: ListPage, metadata: ListMeta, view: View): ApiAnswer {
  const isYaml = view.representation.encoding === 'yaml'
  return {
    status: 200,
    headers: { 'content-type': isYaml ? 'application/yaml' : 'application/json' },
    body: shapedPieces(page, metadata, view),
  }
}

function* shapedPieces(page: ListPage, metadata: ListMeta, view: View): Generator<Uint8Array> {
  const { representation, chunkBytes } = view
  const isPretty = representation.isPretty && representation.encoding === 'json'
  const print = (value: unknown, margin: string): string =>
    isPretty
      ? JSON.stringify(value, null, 2).replaceAll('\n', `\n${margin}`)
      : JSON.stringify(value)
  const [list, end] = isPretty ? [': [', '\n  ]\n}\n'] : [':[', ']}\n']
  const { items: none, ...rest } = shapedHead(metadata, view)
  const head = print(rest, '').replace(/\n?\}$/, '')
  let text = `${head},${isPretty ? '\n  ' : ''}${JSON.stringify(none)}${list}`
  for (const [at, item] of page.items.entries()) {
    text += `${at === 0 ? '' : ','}${isPretty ? '\n    ' : ''}${print(shapedItem(item, view), '    ')}`
    if (text.length < chunkBytes) continue
    yield utf8.encode(text)
    text = ''
  }
  yield utf8.encode(`${text}${end}`)
}

/** Returns everything of a list except its items; `items` is the name of their field. */
function shapedHead(metadata: ListMeta, view: View): Record<string, unknown> & { items: string } {
  const { kind, apiVersion } = view.reader
  switch (view.representation.as) {
    case 'object':
      return { kind: kind.listKind, apiVersion, metadata, items: 'items' }
    case 'partial':
      return {
        kind: 'PartialObjectMetadataList',
        apiVersion: metaVersion,
        metadata,
        items: 'items',
      }
    case 'table': {
      const { rows: _rows, ...head } = tableOf({ kind, objects: [], nowMs: view.nowMs, metadata })
      return { ...head, items: 'rows' }
    }
  }
}

const metaVersion = 'meta.k8s.io/v1'

function shapedItem(cached: CachedObject, view: View): unknown {
  const { reader, representation } = view
  const object = reader.parse(cached)
  switch (representation.as) {
    case 'object':
      return reader.kind.isCustom ? object : withoutType(object)
    case 'partial':
      return partialObjectMetadata(object)
    case 'table': {
      return tableOf({ ...tableIn(view), objects: [object], metadata: {} }).rows[0]
    }
  }
}

/** Writes the list in pieces: each item is parsed and written alone. */
async function protobufListAnswer(
  page: ListPage,
  metadata: ListMeta,
  view: View,
): Promise<ApiAnswer> {
  const { reader, representation, chunkBytes, clock } = view
  const type =
    representation.as === 'partial'
      ? { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadataList' }
      : { apiVersion: reader.apiVersion, kind: reader.kind.listKind }
  const items = { count: page.items.length, at: (index: number) => itemAt(page, index, view) }
  const body = await protobufList({ type, metadata, items, chunkBytes, clock })
  return { status: 200, headers: { 'content-type': protobufType }, body }
}

function itemAt({ items }: ListPage, index: number, { reader }: View): AnyObject {
  const item = items[index]
  if (!item) throw new RangeError(`Cannot read item ${index}: the list has ${items.length}`)
  return reader.parse(item)
}

/** Names the server's own type of the object, as upstream does. */
function wrongShape({ group, kind, listKind, isCustom }: Kind, wanted: string): StatusError {
  const isList = wanted === 'PartialObjectMetadata'
  const own = `${group === '' ? 'core' : group.split('.')[0]}.${isList ? listKind : kind}`
  const custom = `unstructured.Unstructured${isList ? 'List' : ''}`
  return new StatusError(
    'NotAcceptable',
    `you requested ${wanted}, but the requested object is ${isList ? 'a' : 'not a'} list (*${isCustom ? custom : own})`,
  )
}

/** Answers with any JSON value, in the negotiated encoding. */
export async function valueAnswer(
  status: number,
  value: unknown,
  { encoding, isPretty }: Pick<Representation, 'encoding' | 'isPretty'>,
): Promise<ApiAnswer> {
  if (encoding === 'yaml') return yamlAnswer(status, value)
  if (encoding === 'protobuf') {
    const body = await protobufValue(value)
    if (body) return { status, headers: { 'content-type': protobufType }, body }
  }
  const text = isPretty ? JSON.stringify(value, null, 2) : JSON.stringify(value)
  return { status, headers: { 'content-type': 'application/json' }, body: utf8.encode(`${text}\n`) }
}

const { printedYamlBytesMax } = apiServerBounds.represent

/** JSON is valid YAML, so long values are written as JSON. */
function yamlAnswer(status: number, value: unknown): ApiAnswer {
  const headers = { 'content-type': 'application/yaml' }
  const text = JSON.stringify(value)
  if (text.length > printedYamlBytesMax) return { status, headers, body: utf8.encode(`${text}\n`) }
  return { status, headers, body: utf8.encode(printYaml(value)), said: value }
}

/** Returns true if the cached bytes can be sent as they are. */
export function isPlain({ encoding, as, isPretty }: Representation): boolean {
  return encoding === 'json' && as === 'object' && !isPretty
}

/** Returns the value that a client gets for the object, in the shape it asked for. */
export function shapedObject(cached: CachedObject, view: View, hasHeaders = true): unknown {
  const { reader, representation } = view
  const object = reader.parse(cached)
  switch (representation.as) {
    case 'object':
      return object
    case 'partial':
      return partialObjectMetadata(object)
    case 'table':
      return tableOf({
        ...tableIn(view),
        objects: [object],
        hasHeaders,
        metadata: { resourceVersion: object.metadata.resourceVersion ?? '' },
      })
  }
}

/** Returns what all tables of a view have in common. */
function tableIn({ reader: { kind }, nowMs, includeObject, omitsManagedFields }: View) {
  return { kind, nowMs, includeObject, omitsManagedFields }
}

function shapedList(page: ListPage, metadata: ListMeta, view: View): unknown {
  const { reader, representation } = view
  const objects: AnyObject[] = page.items.map((item) => reader.parse(item))
  switch (representation.as) {
    case 'object':
      return {
        kind: reader.kind.listKind,
        apiVersion: reader.apiVersion,
        metadata,
        items: reader.kind.isCustom ? objects : objects.map(withoutType),
      }
    case 'partial':
      return {
        kind: 'PartialObjectMetadataList',
        apiVersion: 'meta.k8s.io/v1',
        metadata,
        // Upstream builds this list itself, and leaves it null if there are no items.
        items: objects.length === 0 ? null : objects.map((object) => partialObjectMetadata(object)),
      }
    case 'table':
      return {
        ...tableOf({ ...tableIn(view), objects, metadata }),
        // Upstream builds the rows of kinds without their own columns in the same way.
        ...(objects.length === 0 && hasUsualColumns(reader.kind) ? { rows: null } : {}),
      }
  }
}

function hasUsualColumns({ columns, isCustom }: Kind): boolean {
  return columns === defaultColumns && isCustom !== true
}

function withoutType({ apiVersion: _apiVersion, kind: _kind, ...rest }: AnyObject) {
  return rest
}

function listMeta({ revision, isUnversioned, continueToken, remaining }: ListPage): ListMeta {
  return {
    ...(isUnversioned ? {} : { resourceVersion: String(revision) }),
    ...(continueToken === undefined ? {} : { continue: continueToken }),
    ...(remaining === undefined ? {} : { remainingItemCount: remaining }),
  }
}

/** Splices stored bytes, so that a list of any length needs one piece of memory at a time. */
function* listPieces(
  head: Uint8Array,
  items: readonly CachedObject[],
  { reader, chunkBytes }: View,
): Generator<Uint8Array> {
  let parts: Uint8Array[] = [head]
  let bytes = head.length
  let isFirst = true
  // The list names the kind of its items; only custom resources repeat it, as upstream's do.
  const skipped = reader.kind.isCustom ? 0 : reader.headLength
  for (const item of items) {
    const wire = reader.wire(item)
    if (!isFirst) parts.push(comma)
    isFirst = false
    if (skipped > 0) parts.push(openBrace, wire.subarray(skipped))
    else parts.push(wire)
    bytes += wire.length - skipped + 2
    if (bytes < chunkBytes) continue
    yield Buffer.concat(parts)
    parts = []
    bytes = 0
  }
  parts.push(listEnd)
  yield Buffer.concat(parts)
}
