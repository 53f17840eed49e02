import { readFileSync } from 'node:fs'
import { request as requestPlain } from 'node:http'
import { request as requestSecure, type RequestOptions } from 'node:https'
import {
  askPeer,
  ExpectedError,
  exitCodes,
  messageOf,
  withTimeout,
  type PeerReply,
} from '@skerry/base'
import type { Container, Node, Pod } from '@skerry/api'
import * as z from 'zod'
import type { ConfigurationDeps } from './configuration.ts'
import type { ExtenderFields } from './configuration-schema.ts'
import {
  ExtenderError,
  type Extender,
  type NodeVerdict,
  type PreemptionVictims,
} from './extender.ts'
import type { PreemptionCandidate } from './plan-preemption.ts'
import { scoreMax } from './framework/plugin.ts'
import { schedulerBounds } from './limits-table.ts'

/** The largest score of an extender. */
const extenderScoreMax = 10

const { answerBytesMin } = schedulerBounds.httpExtender
const answerBytesPerByte = 4

/** Field names are matched in any case, as in Go. */
const filterAnswer = z.looseObject({
  nodes: z
    .object({ items: z.array(z.object({ metadata: z.object({ name: z.string() }) })).nullish() })
    .nullish(),
  nodenames: z.array(z.string()).nullish(),
  failednodes: z.record(z.string(), z.string()).nullish(),
  failedandunresolvablenodes: z.record(z.string(), z.string()).nullish(),
  error: z.string().nullish(),
})

const priorities = z.array(z.unknown()).nullable()
const priority = z.looseObject({ host: z.string(), score: z.number() })
const preemptionAnswer = z.looseObject({
  nodenametometavictims: z.record(z.string(), z.unknown()).nullish(),
})
const metaVictims = z.looseObject({
  pods: z.array(z.unknown()).nullish(),
  numpdbviolations: z.number().nullish(),
})
const metaPod = z.looseObject({ uid: z.string() })
const bindingAnswer = z.looseObject({ error: z.string().nullish() })

/**
 * Creates an extender that is called over HTTP, as kube-scheduler does
 * (kube-scheduler/extender/v1). Throws ExpectedError if a file that it names cannot be read.
 */
export function createHttpExtender(fields: ExtenderFields, deps: ConfigurationDeps): Extender {
  const post = poster(fields, deps)
  const { filterVerb, prioritizeVerb, preemptVerb, bindVerb, weight } = fields
  const nodesOf = (nodes: readonly Node[]): object =>
    fields.nodeCacheCapable
      ? { NodeNames: nodes.map(nameOf) }
      : { Nodes: { metadata: {}, items: nodes } }
  return {
    isIgnorable: fields.ignorable,
    isInterested: (pod) =>
      wantsManaged(pod, new Set(fields.managedResources.map((each) => each.name))),
    ...(filterVerb === ''
      ? {}
      : {
          filter: async (pod, nodes, signal) => {
            const question = { Pod: pod, ...nodesOf(nodes) }
            return post(filterVerb, question, (answer) => verdictOf(answer, nodes, fields), signal)
          },
        }),
    ...(prioritizeVerb === ''
      ? {}
      : {
          prioritize: async (pod, nodes, signal) => {
            const question = { Pod: pod, ...nodesOf(nodes) }
            return post(prioritizeVerb, question, (answer) => scoresOf(answer, weight), signal)
          },
        }),
    ...(preemptVerb === ''
      ? {}
      : {
          preempt: async (pod, candidates, signal) => {
            const victims = {
              [victimsField(fields)]: victimsOf(candidates, fields.nodeCacheCapable),
            }
            return post(preemptVerb, { Pod: pod, ...victims }, namedVictims, signal)
          },
        }),
    ...(bindVerb === ''
      ? {}
      : {
          bind: async ({ pod, nodeName }, signal) => {
            const { name, namespace, uid } = pod.metadata
            const binding = { PodName: name, PodNamespace: namespace, PodUID: uid, Node: nodeName }
            const error = await post(bindVerb, binding, bindingError, signal)
            if (error) throw new ExtenderError(error)
          },
        }),
  }
}

function nameOf(node: Node): string {
  return node.metadata.name ?? ''
}

function wantsManaged({ spec }: Pod, managed: ReadonlySet<string>): boolean {
  if (managed.size === 0) return true
  const wants = ({ resources }: Container): boolean =>
    [resources?.requests, resources?.limits].some((list) =>
      Object.keys(list ?? {}).some((name) => managed.has(name)),
    )
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].some(wants)
}

function verdictOf(answer: unknown, nodes: readonly Node[], fields: ExtenderFields): NodeVerdict {
  const said = parse(filterAnswer, lowered(answer))
  if (said.error) throw new ExtenderError(said.error)
  const known = new Set(nodes.map(nameOf))
  const named = fields.nodeCacheCapable ? said.nodenames : undefined
  const unknown = named?.find((name) => !known.has(name))
  if (unknown !== undefined) {
    throw new ExtenderError(
      `extender "${fields.urlPrefix}" claims a filtered node "${unknown}" which is not found in the input node list`,
    )
  }
  const listed = (said.nodes?.items ?? []).map(({ metadata }) => metadata.name)
  return {
    nodes: named ?? listed.filter((name) => known.has(name)),
    failed: said.failednodes ?? {},
    unresolvable: said.failedandunresolvablenodes ?? {},
  }
}

function scoresOf(answer: unknown, weight: number): ReadonlyMap<string, number> {
  const list = parse(priorities, answer) ?? []
  const read = list.map((each) => parse(priority, lowered(each)))
  return new Map(
    read.map(({ host, score }) => [host, (score * weight * scoreMax) / extenderScoreMax]),
  )
}

function bindingError(answer: unknown): string | null | undefined {
  return parse(bindingAnswer, lowered(answer)).error
}

function victimsField({ nodeCacheCapable }: ExtenderFields): string {
  return nodeCacheCapable ? 'NodeNameToMetaVictims' : 'NodeNameToVictims'
}

function victimsOf(candidates: readonly PreemptionCandidate[], byUid: boolean): object {
  return Object.fromEntries(
    candidates.map(({ nodeName, victims, violations }) => {
      const pods = victims.map(({ pod, uid }) => (byUid ? { UID: uid } : pod))
      return [nodeName, { Pods: pods, NumPDBViolations: violations }]
    }),
  )
}

function namedVictims(answer: unknown): PreemptionVictims[] {
  const { nodenametometavictims } = parse(preemptionAnswer, lowered(answer))
  return Object.entries(nodenametometavictims ?? {}).map(([nodeName, value]) => {
    const { pods, numpdbviolations } = parse(metaVictims, lowered(value))
    const uids = (pods ?? []).map((pod) => parse(metaPod, lowered(pod)).uid)
    return { nodeName, uids, violations: numpdbviolations ?? 0 }
  })
}

function lowered(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key.toLowerCase(), field]))
}

function parse<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new TypeError(`Cannot read the answer: ${issue?.path.join('.')}: ${issue?.message}`)
}

/** Throws TypeError if the answer is malformed. */
type Read<T> = (answer: unknown) => T
type Post = <T>(verb: string, body: object, read: Read<T>, signal: AbortSignal) => Promise<T>

function poster(fields: ExtenderFields, { clock }: ConfigurationDeps): Post {
  const tls = tlsOf(fields)
  const prefix = fields.urlPrefix.replace(/\/+$/, '')
  return async (verb, body, read, signal) => {
    const url = new URL(`${prefix}/${verb}`)
    const bytes = Buffer.from(JSON.stringify(body))
    const headers = { 'content-type': 'application/json', 'content-length': bytes.length }
    const options = { method: 'POST', headers, ...(url.protocol === 'https:' ? tls : {}) }
    const { httpTimeout: ms } = fields
    const message = `no answer in ${ms} ms`
    try {
      const { status, bytes: answer } = await withTimeout({ ms, message, clock }, signal, (scope) =>
        exchange(url, { ...options, signal: scope }, bytes).catch((error: unknown) => {
          scope.throwIfAborted()
          throw error
        }),
      )
      if (status === 200) return read(JSON.parse(answer.toString()))
      throw new ExtenderError(`failed ${verb} with extender at URL ${url.href}, code ${status}`)
    } catch (error) {
      if (error instanceof ExtenderError) throw error
      throw new ExtenderError(`Post "${url.href}": ${messageOf(error)}`, { cause: error })
    }
  }
}

function exchange(url: URL, options: RequestOptions, body: Buffer): Promise<PeerReply> {
  const request = url.protocol === 'https:' ? requestSecure : requestPlain
  return askPeer({
    peer: `the extender at ${url.host}`,
    request: () => request(url, options),
    body,
    bytesMax: answerBytesMin + answerBytesPerByte * body.length,
  })
}

/** Without its own authority an HTTPS extender is not verified, as upstream. */
function tlsOf({ tlsConfig = {}, enableHTTPS }: ExtenderFields): RequestOptions {
  const material = (data: string | undefined, file: string | undefined): Buffer | undefined => {
    if (data) return Buffer.from(data, 'base64')
    return file ? readMaterial(file) : undefined
  }
  const ca = material(tlsConfig.caData, tlsConfig.caFile)
  const cert = material(tlsConfig.certData, tlsConfig.certFile)
  const key = material(tlsConfig.keyData, tlsConfig.keyFile)
  const isTrusting = tlsConfig.insecure === true || (enableHTTPS && ca === undefined)
  return {
    ...(ca ? { ca } : {}),
    ...(cert ? { cert } : {}),
    ...(key ? { key } : {}),
    ...(tlsConfig.serverName ? { servername: tlsConfig.serverName } : {}),
    ...(isTrusting ? { rejectUnauthorized: false } : {}),
  }
}

function readMaterial(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (cause) {
    const text = `Cannot read scheduler configuration: extenders: no file ${file}`
    throw new ExpectedError(text, exitCodes.usage, { cause })
  }
}
