import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { connect, type Subject } from '../subject.ts'
import type { AnyFields } from './show-world.ts'
import type { Story } from './story.ts'

export interface ExtenderServer extends AsyncDisposable {
  /** The URL that replaces `${extender}` in a story's configuration. */
  readonly url: string
}

/**
 * Starts a scheduler's extender that answers as the story defines: `filter: {keep, failed, unresolvable,
 * error}`, `prioritize: {node: score}`, `preempt: {keep}`, `bind: {}` (binds) or `{error}`; a verb with
 * `status` answers with that one. A verb that the story lacks gets 404.
 */
export async function startExtenderServer(
  { extender }: Story,
  subject: Subject,
): Promise<ExtenderServer> {
  const server = createServer((request, response) => {
    const verb = (request.url ?? '').slice(1)
    const rule = fieldsOf(extender[verb])
    void readJson(request).then(async (asked) => {
      const answer = await answers[verb]?.(rule, asked, subject)
      const status = extender[verb] === undefined ? 404 : Number(rule['status'] ?? 200)
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(answer ?? {}))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('Cannot listen: no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

type Answer = (rule: AnyFields, asked: AnyFields, subject: Subject) => unknown

const answers: Readonly<Record<string, Answer>> = {
  filter({ keep, failed, unresolvable, error }, asked) {
    const isKept = (name: string): boolean => !Array.isArray(keep) || keep.includes(name)
    const { NodeNames, Nodes } = asked
    const facts = {
      failedNodes: failed,
      failedAndUnresolvableNodes: unresolvable,
      error: error ?? '',
    }
    if (Array.isArray(NodeNames))
      return { ...facts, nodeNames: NodeNames.map(String).filter(isKept) }
    const items = itemsOf(fieldsOf(Nodes)['items'])
    const kept = items.filter((node) => isKept(String(fieldsOf(node['metadata'])['name'])))
    return { ...facts, nodes: { apiVersion: 'v1', kind: 'NodeList', items: kept } }
  },
  prioritize: (rule) =>
    Object.entries(rule).map(([host, score]) => ({ host, score: Number(score) })),
  preempt({ keep }, asked) {
    const all = fieldsOf(asked['NodeNameToVictims'] ?? asked['NodeNameToMetaVictims'])
    const kept = Object.entries(all).filter(([name]) => !Array.isArray(keep) || keep.includes(name))
    const victims = kept.map(([name, value]) => {
      const { Pods, NumPDBViolations: numPDBViolations } = fieldsOf(value)
      const uids = itemsOf(Pods).map((pod) => ({
        uid: pod['UID'] ?? fieldsOf(pod['metadata'])['uid'],
      }))
      return [name, { pods: uids, numPDBViolations }]
    })
    return { nodeNameToMetaVictims: Object.fromEntries(victims) }
  },
  async bind({ error }, { PodName, PodNamespace, PodUID, Node }, subject) {
    if (error !== undefined) return { error }
    using connection = connect(subject)
    const binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: PodName, namespace: PodNamespace, uid: PodUID },
      target: { apiVersion: 'v1', kind: 'Node', name: Node },
    }
    const body = Buffer.from(JSON.stringify(binding))
    const path = `/api/v1/namespaces/${String(PodNamespace)}/pods/${String(PodName)}/binding`
    const headers = { 'content-type': 'application/json', 'content-length': String(body.length) }
    const { stream } = await connection.send({
      method: 'POST',
      path,
      headers,
      body,
      isAuthenticated: true,
    })
    await stream.toArray()
    return {}
  },
}

async function readJson(request: IncomingMessage): Promise<AnyFields> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return fieldsOf(JSON.parse(Buffer.concat(parts).toString()))
}

function itemsOf(value: unknown): AnyFields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : []
}

function fieldsOf(value: unknown): AnyFields {
  // Any JSON object may be indexed by a string.
  return typeof value === 'object' && value !== null ? (value as AnyFields) : {}
}
