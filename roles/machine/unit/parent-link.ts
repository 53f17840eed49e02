import { createHash } from 'node:crypto'
import { open, readFile, rename, rm } from 'node:fs/promises'
import { isJsonObject, isStatusError, StatusError } from '@skerry/api'
import {
  ExpectedError,
  exitCodes,
  linkedSignal,
  withTimeout,
  type Clock,
  type LinkedSignal,
} from '@skerry/base'
import type { NodeIdentity } from '@skerry/bootstrap'
import {
  createHttpsTransport,
  readBody,
  statusErrorOf,
  type HttpsTransport,
  type Transport,
} from '@skerry/client'
import type { NodeRecord } from '@skerry/edge-apps'
import type { RoleContext } from '../../runtime/role-context.ts'
import { openNodeIdentity } from '../../runtime/node-identity.ts'
import { unitsPath, type UnitOrder, type UnitStatement } from '../../site/units/unit-order.ts'
import { machineBounds } from '../limits-table.ts'
import { unitPaths } from './unit-state.ts'

const { answerMs, contentMs, reopenMs, bodyBytesMax, contentBytesMax } = machineBounds.unit.parent

type Side = NodeRecord['follows']

type Context = Pick<RoleContext, 'clock' | 'random' | 'log' | 'metrics' | 'signal'>

/** The way to the parent, as the node that this machine is there, whichever side it obeys. */
export class ParentLink implements AsyncDisposable {
  readonly #dataDir: string
  readonly #nodeName: string
  readonly #context: Context
  #link: OpenLink | undefined

  constructor(node: { readonly dataDir: string; readonly nodeName: string }, context: Context) {
    this.#dataDir = node.dataDir
    this.#nodeName = node.nodeName
    this.#context = context
  }

  /** Says the records, and resolves with the parent's order. Rejects if the parent does not answer, or gives none. */
  async ask(statement: UnitStatement): Promise<UnitOrder> {
    const { follows } = statement.node
    const body = Buffer.from(JSON.stringify(statement))
    const headers = { 'content-type': 'application/json' }
    const path = `${unitsPath}statement`
    const request = { method: 'POST', path, headers, body, isRepeatable: true } as const
    const answer = await this.#send(follows, answerMs, (transport, scope) =>
      transport.send(request, scope).then(async (response) => {
        const text = (await readBody(response.body, bodyBytesMax)).toString()
        if (response.status !== 200) throw statusErrorOf(response, text)
        return JSON.parse(text) as unknown
      }),
    )
    if (
      !isJsonObject(answer) ||
      !isJsonObject(answer['parent']) ||
      !isJsonObject(answer['settings'])
    ) {
      throw new Error('Cannot read the order: it has no record')
    }
    // The parent is the authority of this node; the rest of the shape is its own.
    return answer as unknown as UnitOrder
  }

  /** Fetches a content into a file. Rejects unless the bytes have this digest. */
  async fetch(follows: Side, digest: string, path: string): Promise<void> {
    const part = `${path}.part`
    const request = { method: 'GET', path: `${unitsPath}contents/${digest}`, headers: {} } as const
    try {
      const found = await this.#send(follows, contentMs, async (transport, scope) => {
        const response = await transport.send(request, scope)
        if (response.status !== 200) {
          const text = (await readBody(response.body, bodyBytesMax)).toString()
          throw statusErrorOf(response, text)
        }
        return download(response.body, part)
      })
      if (found !== digest) throw damaged(digest)
      await rename(part, path)
    } finally {
      await rm(part, { force: true })
    }
  }

  /** Brings a sealed content to the parent. */
  async bring(follows: Side, digest: string, path: string): Promise<void> {
    const headers = { 'content-type': 'application/octet-stream' }
    const body = await readFile(path)
    const target = `${unitsPath}contents/${digest}`
    const request = { method: 'PUT', path: target, headers, body, isRepeatable: true } as const
    await this.#send(follows, contentMs, async (transport, scope) => {
      const response = await transport.send(request, scope)
      const text = (await readBody(response.body, bodyBytesMax)).toString()
      if (response.status !== 200) throw statusErrorOf(response, text)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#link?.[Symbol.asyncDispose]()
    this.#link = undefined
  }

  /** Asks the parent's masters in turn, the one that answered last first: only the one whose controllers act answers. */
  async #send<T>(
    follows: Side,
    ms: number,
    work: (transport: Transport, scope: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { clock, signal } = this.#context
    const link = await this.#open(follows)
    const message = `its parent does not answer in ${ms} ms`
    let last: unknown = new Error('Cannot ask the parent: it has no address')
    for (const url of link.urls()) {
      try {
        const answer = await withTimeout({ ms, message, clock }, signal, (scope) =>
          work(link.at(url), scope),
        )
        link.answered = url
        return answer
      } catch (error) {
        signal.throwIfAborted()
        if (isAnswer(error)) throw error
        last = error
      }
    }
    // The next look reads which masters there are.
    await this[Symbol.asyncDispose]()
    throw last
  }

  /** A node that obeys its parent renews that identity itself, so that it is read again now and then. */
  async #open(follows: Side): Promise<OpenLink> {
    const nowMs = this.#context.clock.monotonicMs()
    const link = this.#link
    const isGood =
      link?.follows === follows && (follows === 'unit' || nowMs - link.openedMs < reopenMs)
    if (link && isGood) return link
    await this[Symbol.asyncDispose]()
    const dataDir = follows === 'unit' ? unitPaths(this.#dataDir).parent : this.#dataDir
    const none = { servers: [], tokenFile: undefined, caHash: undefined }
    const identity = await openNodeIdentity(
      { dataDir, nodeName: this.#nodeName, ...none },
      this.#context,
    )
    this.#link = new OpenLink({ identity, follows, openedMs: nowMs }, this.#context)
    return this.#link
  }
}

/** Returns whether a master has answered and another one would say the same. */
function isAnswer(error: unknown): boolean {
  if (error instanceof StatusError) return !isStatusError(error, 'ServiceUnavailable')
  return error instanceof ExpectedError || error instanceof RangeError
}

class OpenLink implements AsyncDisposable {
  readonly follows: Side
  readonly openedMs: number
  /** The master that answered last. */
  answered: string | undefined
  readonly #identity: NodeIdentity
  readonly #clock: Clock
  readonly #transports = new Map<string, HttpsTransport>()
  readonly #scope: LinkedSignal
  readonly #renewing: Promise<void>

  constructor(
    { identity, follows, openedMs }: { identity: NodeIdentity; follows: Side; openedMs: number },
    { clock, signal }: Context,
  ) {
    this.follows = follows
    this.openedMs = openedMs
    this.#identity = identity
    this.#clock = clock
    const scope = linkedSignal(signal)
    this.#scope = scope
    // At the unit's side nobody else renews it.
    this.#renewing =
      follows === 'unit'
        ? identity.client.run(scope.signal).catch((error: unknown) => {
            if (!scope.signal.aborted) throw error
          })
        : Promise.resolve()
  }

  urls(): string[] {
    const { answered } = this
    const all = this.#identity.servers.ranked()
    return answered === undefined ? [...all] : [answered, ...all.filter((url) => url !== answered)]
  }

  at(server: string): HttpsTransport {
    const { info, client } = this.#identity
    const known = this.#transports.get(server)
    if (known) return known
    const transport = createHttpsTransport(
      {
        server,
        certificateAuthority: info.authorityPem,
        credentials: (scope) => client.credentials(scope),
      },
      { clock: this.#clock },
    )
    this.#transports.set(server, transport)
    return transport
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#scope.abort(new Error('The link has ended'))
    this.#scope[Symbol.dispose]()
    await this.#renewing
    for (const transport of this.#transports.values()) transport[Symbol.dispose]()
  }
}

async function download(body: AsyncIterable<Uint8Array>, path: string): Promise<string> {
  const hash = createHash('sha256')
  await using file = await open(path, 'w', 0o600)
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.length
    if (bytes > contentBytesMax)
      throw new RangeError(`a content has at most ${contentBytesMax} bytes`)
    hash.update(piece)
    await file.writeFile(piece)
  }
  await file.sync()
  return hash.digest('hex')
}

function damaged(digest: string): ExpectedError {
  return new ExpectedError(
    `Cannot use content ${digest}: the bytes that came are others`,
    exitCodes.failure,
  )
}
