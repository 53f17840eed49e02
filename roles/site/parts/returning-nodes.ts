import { checkDnsSubdomain, isJsonObject, StatusError, type GroupResource } from '@skerry/api'
import type { ApiAnswer, Authorizer, AuthorizedRequest, Objects } from '@skerry/apiserver'
import {
  answerNodeReturn,
  clientKeyAnnotation,
  nodeReturnPath,
  nodeReturnPrefix as prefix,
  nodeReturnSuffix as suffix,
  type NodeReturn,
} from '@skerry/bootstrap'
import type { OpenSite, SitePart } from '../contract/site-part.ts'
import { siteBounds, siteDefaults } from '../limits-table.ts'

const { bodyBytesMax } = siteBounds.returningNodes

const nodes: GroupResource = { group: '', resource: 'nodes' }

/**
 * Serves `POST /nodes/v1/nodes/<name>/return`: a node that was away until its certificate ended gets the next one by its
 * key. The request carries no credentials, because a certificate that has ended is not valid; each has an audit line.
 */
export function returningNodes({
  graceMs = siteDefaults.nodeReturnGraceMs,
}: { readonly graceMs?: number | undefined } = {}): SitePart {
  return {
    routes: (site) => [
      {
        prefix,
        attributes: ({ method }, target) => ({
          verb: method.toLowerCase(),
          isResourceRequest: false,
          path: nodeReturnPath(nodeNameOf(target)),
        }),
        serve: (admitted) => serve(admitted, site, graceMs),
      },
    ],
    access: () => ({ authorizers: [authorizer] }),
  }
}

/** Allows everybody to ask: the answer depends on the proof in the body alone. */
const authorizer: Authorizer = {
  async authorize({ isResourceRequest, path, verb }) {
    const isAsked =
      !isResourceRequest && verb === 'post' && path.startsWith(prefix) && path.endsWith(suffix)
    return { verdict: isAsked ? 'allow' : 'no-opinion', reason: '' }
  },
}

async function serve(
  { request }: AuthorizedRequest,
  { objects, pki, time, context: { log } }: OpenSite,
  graceMs: number,
): Promise<ApiAnswer> {
  if (request.method !== 'POST') {
    throw new StatusError('MethodNotAllowed', 'Cannot take back a node: use POST')
  }
  const node = nodeNameOf(request.target)
  const asked = parse(await readBounded(request.body))
  const rules = { authority: pki.authority, graceMs, time, keyOf: keyIn(objects) }
  const certificate = await answerNodeReturn(node, asked, rules)
  const address = request.peer.type === 'socket' ? request.peer.address : ''
  log.info('Node came back by its key', { node, address })
  return {
    status: 201,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(`${JSON.stringify({ certificate })}\n`),
  }
}

/** A node that was removed has no object, and one that was made again under its name has another key. */
function keyIn(objects: Objects): (name: string) => string | undefined {
  return (name) => objects.get(nodes, '', name)?.metadata.annotations?.[clientKeyAnnotation]
}

function nodeNameOf(target: string): string {
  const isInner = target.startsWith(prefix) && target.endsWith(suffix)
  const name = isInner ? target.slice(prefix.length, -suffix.length) : ''
  if (checkDnsSubdomain(name).length === 0) return name
  throw new StatusError('NotFound', `Cannot find ${JSON.stringify(target.slice(0, 256))}`)
}

async function readBounded(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > bodyBytesMax) {
      const text = `Cannot take back a node: the request has more than ${bodyBytesMax} bytes`
      throw new StatusError('RequestEntityTooLarge', text)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parse(text: string): NodeReturn {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new StatusError('BadRequest', 'Cannot take back a node: the request is not JSON', {
      cause,
    })
  }
  const { certificate, request, signature } = isJsonObject(value) ? value : {}
  if (
    typeof certificate === 'string' &&
    typeof request === 'string' &&
    typeof signature === 'string'
  ) {
    return { certificate, request, signature }
  }
  const why = 'the request needs the texts certificate, request and signature'
  throw new StatusError('BadRequest', `Cannot take back a node: ${why}`)
}
