import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { StatusError } from '@skerry/api'
import type { ApiAnswer, AuthorizedRequest, Authorizer, Route } from '@skerry/apiserver'
import { makeDirectoryDurably, syncDirectory } from '@skerry/base'
import { exists } from '../../runtime/files.ts'
import { siteBounds } from '../limits-table.ts'
import type { HandoverActs } from './handover-acts.ts'
import { readStatement, unitsPath, type UnitOrder, type UnitSettings } from './unit-order.ts'

const { statementBytesMax } = siteBounds.units.route
const { bytesMax } = siteBounds.units.content

/** Nodes ask here for orders, and fetch and bring contents. Only the parent's record, which nobody else writes, is an order. */
export function unitRoute(acts: HandoverActs, settings: UnitSettings): Route {
  return {
    prefix: unitsPath,
    async serve(admitted) {
      const { method, target } = admitted.request
      const [, what = '', digest = ''] =
        /^\/units\/v1\/(statement|contents)(?:\/([0-9a-f]{64}))?$/.exec(target) ?? []
      const node = nodeOf(admitted)
      if (!acts.isLeading) throw elsewhere(node)
      if (method === 'POST' && what === 'statement')
        return order(node, admitted, { acts, settings })
      if (digest === '') throw new StatusError('NotFound', `Cannot serve ${target}: no such path`)
      if (method === 'GET') return content(node, digest, acts)
      if (method === 'PUT') return receive(node, { digest, admitted }, acts)
      throw new StatusError('MethodNotAllowed', `Cannot serve ${target}: use GET or PUT`)
    },
  }
}

/** Lets nodes ask; the route looks whose unit it is. */
export const unitAuthorizer: Authorizer = Object.freeze<Authorizer>({
  async authorize({ user, isResourceRequest, path }) {
    const isAllowed =
      !isResourceRequest && path.startsWith(unitsPath) && user.groups.includes('system:nodes')
    return { verdict: isAllowed ? 'allow' : 'no-opinion', reason: '' }
  },
})

function nodeOf({ user }: AuthorizedRequest): string {
  const [, node] = /^system:node:(.+)$/.exec(user.name) ?? []
  if (node !== undefined && user.groups.includes('system:nodes')) return node
  throw new StatusError('Forbidden', `Cannot answer ${user.name}: only nodes ask about their units`)
}

function elsewhere(node: string): StatusError {
  return new StatusError(
    'ServiceUnavailable',
    `Cannot answer node ${node} about its unit: the controllers of another master act; ask that one`,
  )
}

async function order(
  node: string,
  { request }: AuthorizedRequest,
  { acts, settings }: { readonly acts: HandoverActs; readonly settings: UnitSettings },
): Promise<ApiAnswer> {
  acts.hear(node, readStatement(await wholeBody(request.body)))
  return json({ ...(await acts.orderFor(node)), settings } satisfies UnitOrder)
}

async function wholeBody(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.length
    if (bytes > statementBytesMax) throw tooLarge(statementBytesMax)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

/** Only the server of the unit gets a content, and only the one that the parent's record names. */
async function content(node: string, digest: string, acts: HandoverActs): Promise<ApiAnswer> {
  const unit = acts.unitOf(node)
  const record = unit === undefined ? undefined : acts.recordOf(unit)
  const path = acts.contentPath(digest)
  const isOurs = record?.content === digest && acts.serverOf(node) === node
  if (!isOurs || !(await exists(path))) {
    throw new StatusError(
      'NotFound',
      `Cannot serve content ${digest}: node ${node} has no such unit`,
    )
  }
  const headers = { 'content-type': 'application/octet-stream' }
  return { status: 200, headers, body: createReadStream(path) }
}

async function receive(
  node: string,
  {
    digest,
    admitted: { request },
  }: { readonly digest: string; readonly admitted: AuthorizedRequest },
  acts: HandoverActs,
): Promise<ApiAnswer> {
  const unit = acts.unitOf(node)
  const isSpeaker = unit !== undefined && acts.speakerOf(node) === node
  if (!isSpeaker || (await acts.missingContent(unit)) !== digest) {
    throw new StatusError('Forbidden', `Cannot take content ${digest}: nobody waits for it`)
  }
  const path = acts.contentPath(digest)
  const part = `${path}.${randomUUID()}.part`
  await makeDirectoryDurably(dirname(path))
  try {
    const hash = createHash('sha256')
    await using file = await open(part, 'wx', 0o600)
    let bytes = 0
    for await (const piece of request.body) {
      bytes += piece.length
      if (bytes > bytesMax) throw tooLarge(bytesMax)
      hash.update(piece)
      await file.writeFile(piece)
    }
    await file.sync()
    if (hash.digest('hex') !== digest) {
      throw new StatusError('BadRequest', `Cannot take content ${digest}: the bytes are others`)
    }
    await rename(part, path)
    await syncDirectory(dirname(path))
  } finally {
    await rm(part, { force: true })
  }
  return json({})
}

function json(value: unknown): ApiAnswer {
  const headers = { 'content-type': 'application/json' }
  return { status: 200, headers, body: Buffer.from(`${JSON.stringify(value)}\n`) }
}

function tooLarge(max: number): StatusError {
  return new StatusError(
    'RequestEntityTooLarge',
    `Cannot read the body: it has more than ${max} bytes`,
  )
}
