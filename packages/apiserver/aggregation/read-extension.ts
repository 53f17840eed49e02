import type { IncomingMessage } from 'node:http'
import { peerHeadOf, withTimeout } from '@skerry/base'
import type { UserInfo } from '../contract/access.ts'
import { callExtension, type ExtensionCallDeps, type ExtensionServer } from './extension-server.ts'
import { aggregationLimits } from '../limits-table.ts'

/** The identity that this server uses for requests on its own behalf. */
const aggregatorUser: UserInfo = Object.freeze({
  name: 'system:kube-aggregator',
  groups: Object.freeze(['system:masters']),
  extra: Object.freeze({}),
})

export interface ExtensionDocument {
  readonly status: number
  readonly contentType: string
  readonly etag: string
  readonly body: Buffer
}

/** GETs one whole document. Throws ExtensionServerError, or an error that says which limit was exceeded. */
export async function readExtension(
  server: ExtensionServer,
  request: { path: string; accept: string; etag?: string; bytesMax: number },
  deps: ExtensionCallDeps,
  signal: AbortSignal,
): Promise<ExtensionDocument> {
  const { path, accept, etag = '', bytesMax } = request
  const ms = aggregationLimits.checkTimeoutMs
  const message = `context deadline exceeded (no answer in ${ms} ms)`
  return withTimeout({ ms, message, clock: deps.clock }, signal, async (scope) => {
    const headers = { accept, ...(etag === '' ? {} : { 'if-none-match': etag }) }
    const call = { method: 'GET', path, headers, user: aggregatorUser }
    const answer = await callExtension(server, call, deps, scope)
    if (answer.type === 'upgrade') {
      answer.socket.destroy()
      throw new Error('switched protocols without being asked')
    }
    try {
      return await readDocument(answer.response, server, bytesMax)
    } finally {
      // An unread connection would stay open until the peer closes it.
      answer.response.destroy()
    }
  })
}

async function readDocument(
  response: IncomingMessage,
  { service: { namespace, name } }: ExtensionServer,
  bytesMax: number,
): Promise<ExtensionDocument> {
  const { status } = peerHeadOf(response, { peer: `the extension server ${namespace}/${name}` })
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > bytesMax) throw new Error(`answered more than ${bytesMax} bytes`)
    chunks.push(bytes)
  }
  return {
    status,
    contentType: response.headers['content-type'] ?? '',
    etag: response.headers.etag ?? '',
    body: Buffer.concat(chunks),
  }
}
