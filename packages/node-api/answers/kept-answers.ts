import { isJsonObject, type AnyObject, type Kind } from '@skerry/api'
import {
  protobufType,
  readAnyProtobuf,
  type ApiAnswer,
  type ReadPath,
  type RequestInfo,
} from '@skerry/apiserver'
import { asError, type Clock, type Logger } from '@skerry/base'
import { encodeCanonical } from '@skerry/bodies'
import type { CopyFile, StoredAnswer } from '../copies/copy-file.ts'
import { nodeApiBounds } from '../limits-table.ts'

const { answerBytesMax } = nodeApiBounds.keepAnswer

export interface KeptAnswersDeps {
  readonly file: CopyFile
  readonly readPath: ReadPath
  /** Knows documents for which nobody has asked. */
  readonly discovery: { find(info: RequestInfo, accept: string): KeptDocument | undefined }
  readonly clock: Clock
  readonly log: Logger
}

export type KeptDocument = StoredAnswer & { readonly headers: Readonly<Record<string, string>> }

/** Documents by which clients learn what is served. Their answer is the same for everybody who may read them. */
const documentPaths = /^\/(api|apis|version|openapi|\.well-known|livez|readyz|healthz)(\/|$)/

/** Keeps single objects and documents that callers read through the link, for when they ask again while it is away. */
export class KeptAnswers {
  readonly #deps: KeptAnswersDeps

  constructor(deps: KeptAnswersDeps) {
    this.#deps = deps
  }

  document(info: RequestInfo, accept: string): KeptDocument | undefined {
    const { file, discovery } = this.#deps
    return file.document(documentKey(info, accept)) ?? discovery.find(info, accept)
  }

  /** True for requests whose answers are kept. */
  keeps(info: RequestInfo): boolean {
    if (info.method !== 'GET') return false
    if (!info.isResourceRequest) return documentPaths.test(info.path) && !isHealth(info.path)
    const isWhole = info.verb === 'get' && info.subresource === ''
    return isWhole && this.#deps.readPath.kindOf(info.resource) !== undefined
  }

  /** Returns the same answer, of which a copy is kept once its last byte has passed. */
  keep(answer: ApiAnswer, info: RequestInfo, accept: string): ApiAnswer {
    if (answer.status === 404 && info.isResourceRequest) this.#deps.file.dropSingle(singleKey(info))
    if (answer.status !== 200 || answer.headers['content-encoding'] !== undefined) return answer
    const onWhole = (bytes: Uint8Array): Promise<void> => this.#put(bytes, answer, info, accept)
    return { ...answer, body: copied(answer.body, onWhole) }
  }

  async #put(
    bytes: Uint8Array,
    { headers }: ApiAnswer,
    info: RequestInfo,
    accept: string,
  ): Promise<void> {
    const { file, clock, log, readPath } = this.#deps
    try {
      const readAtMs = clock.now()
      if (!info.isResourceRequest) {
        const type = String(headers['content-type'] ?? 'application/json')
        file.putDocument(
          documentKey(info, accept),
          { 'content-type': type },
          { readAtMs, value: bytes },
        )
        return
      }
      const object = await objectOf(bytes, String(headers['content-type'] ?? ''))
      const kind = readPath.kindOf(info.resource)
      const revision = Number(object?.metadata.resourceVersion)
      if (!object || !kind || !isWhole(object, kind) || !Number.isSafeInteger(revision)) return
      const value = utf8.encode(encodeCanonical(object))
      file.putSingle(singleKey(info), revision, { readAtMs, value })
    } catch (error) {
      log.debug('Answer not kept', { path: info.path, error: asError(error) })
    }
  }
}

export function singleKey({ resource, namespace, name }: RequestInfo): string {
  return JSON.stringify([resource.group, resource.version, resource.resource, namespace, name])
}

export function documentKey({ path, query }: RequestInfo, accept: string): string {
  return JSON.stringify([path, query.toString(), accept])
}

function isHealth(path: string): boolean {
  return /^\/(livez|readyz|healthz)(\/|$)/.test(path)
}

/** A client may have asked for metadata or a table alone. */
function isWhole({ apiVersion, kind }: AnyObject, wanted: Kind): boolean {
  const { group, version } = wanted
  return kind === wanted.kind && apiVersion === (group === '' ? version : `${group}/${version}`)
}

async function objectOf(bytes: Uint8Array, type: string): Promise<AnyObject | undefined> {
  const isProtobuf = type.startsWith(protobufType)
  const value: unknown = isProtobuf ? await readAnyProtobuf(bytes) : JSON.parse(text.decode(bytes))
  if (!isJsonObject(value) || !isJsonObject(value['metadata'])) return undefined
  // Every answer to a get is an object of its kind; isWhole checks which.
  return value as unknown as AnyObject
}

const utf8 = new TextEncoder()
const text = new TextDecoder()

/** Passes the pieces on, and calls back with all of them unless they are too many. */
async function* copied(
  body: ApiAnswer['body'],
  onWhole: (bytes: Uint8Array) => Promise<void>,
): AsyncGenerator<Uint8Array> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body instanceof Uint8Array ? [body] : body) {
    bytes += piece.length
    if (bytes <= answerBytesMax) pieces.push(piece)
    else pieces.length = 0
    yield piece
  }
  if (bytes <= answerBytesMax) await onWhole(Buffer.concat(pieces))
}
