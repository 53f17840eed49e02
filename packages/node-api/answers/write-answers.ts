import { StatusError, isJsonObject, type AnyObject } from '@skerry/api'
import {
  isTrue,
  warningHeaders,
  type ApiAnswer,
  type ApiRequest,
  type ReadPath,
  type RequestInfo,
  type UserInfo,
} from '@skerry/apiserver'
import { decodeBody } from '@skerry/bodies'
import { askedRight } from '../access/asked-right.ts'
import type { Rights } from '../access/rights.ts'
import type { OfflinePolicy } from '../kinds/offline-writes.ts'
import { nodeApiBounds } from '../limits-table.ts'
import type { AppliedConfiguration, WriteVerb, Writer } from '../writes/journaled-write.ts'
import type { LocalWrites } from '../writes/local-writes.ts'
import type { OfflinePolicies } from '../writes/offline-policies.ts'
import { askedText, type AwayRequest } from './away-refusals.ts'

const { catchUpSeconds, bodyBytesMax, warningBytesMax } = nodeApiBounds.writeAnswers

export interface WriteAnswersDeps {
  readonly writes: LocalWrites
  readonly policies: OfflinePolicies
  readonly rights: Rights
  readonly readPath: ReadPath
  readonly nodeName: string
}

/**
 * Takes writes while the control plane is away, for those whom a policy of the site permits it and who had the right
 * before. The registry of the API server checks and applies them, to a copy.
 */
export class WriteAnswers {
  readonly #deps: WriteAnswersDeps

  constructor(deps: WriteAnswersDeps) {
    this.#deps = deps
  }

  /** Throws StatusError for refusals. */
  async answer(asked: AwayRequest): Promise<ApiAnswer> {
    const { request, info, user, refuse } = asked
    const { writes, rights, nodeName } = this.#deps
    const { writer, policy } = this.#permitted(asked)
    const home = writes.home(info.resource, info.namespace)
    if (!home?.copy) throw refuse(`${placeText(info)} was not copied to this node before`)
    const body: Uint8Array[] = []
    const apply = request.headers['content-type'] ?? ''
    const verb = verbOf(info, apply)
    const change = {
      verb,
      resource: info.resource,
      namespace: info.namespace,
      writer,
      fieldManager: fieldManagerOf(request, info),
      winner: policy.winner ?? 'cloud',
      applied: () => appliedOf(body, info),
    } as const
    const warnings = new Set<string>()
    let isKept = false
    const answer = await home.copy.change(
      { ...request, body: collected(request.body, body) },
      {
        info,
        user,
        signal: request.signal,
        warn: (text) => void warnings.add(text),
        requireVerb: (other) =>
          rights.couldDo(user, { ...askedRight(info), verb: other, name: '' })
            ? Promise.resolve()
            : Promise.reject(refuse(`the right to ${other} was not seen before`)),
        write: (write) => {
          const result = writes.write(change, home, write)
          isKept ||= result.isApplied
          return Promise.resolve(result)
        },
      },
    )
    if (isKept) {
      warnings.add(`kept on node ${nodeName}: the control plane gets this change when it answers`)
    }
    const warning = warningHeaders(warnings, warningBytesMax)
    return warning.length === 0 ? answer : { ...answer, headers: { ...answer.headers, warning } }
  }

  #permitted({ info, user, refuse }: AwayRequest): { writer: Writer; policy: OfflinePolicy } {
    const { writes, policies, rights, readPath } = this.#deps
    const { resource, namespace, subresource, verb } = info
    const isPlain = info.isResourceRequest && writeVerbs.has(verb) && subresource === ''
    if (!isPlain) throw refuse(`this node does not accept ${askedText(info)} for it`)
    if (policies.all.length === 0) {
      throw refuse(
        'this node accepts no writes for it, because no OfflineWrites policy permits any',
      )
    }
    const writer = writerOf(user)
    if (!writer) {
      throw refuse('this node accepts writes only with tokens that are bound to a pod on it')
    }
    const { group, resource: name } = resource
    const policy = policies.find({ group, resource: name, namespace, account: writer.account })
    if (!policy) {
      throw refuse(
        `this node accepts no writes for it: no OfflineWrites policy permits ${JSON.stringify(user.name)} to ${askedText(info)}`,
      )
    }
    const kind = readPath.kindOf(resource)
    if (!kind?.isNamespaced) throw refuse(`this node does not know ${placeText(info)}`)
    if (kind.version !== kind.storageVersion) {
      throw refuse(`this node accepts writes in version ${kind.storageVersion} only`)
    }
    const question = { ...askedRight(info), ...(verb === 'create' ? { name: '' } : {}) }
    if (!rights.couldDo(user, question)) {
      throw refuse(
        `${JSON.stringify(user.name)} was not seen to have the right to ${askedText(info)} before`,
      )
    }
    if (writes.isCatchingUp(resource)) throw catchingUp(info)
    return { writer, policy }
  }
}

const writeVerbs: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete'])

function placeText({ resource: { group, resource }, namespace }: RequestInfo): string {
  return `${group === '' ? resource : `${resource}.${group}`} in namespace ${namespace}`
}

function verbOf({ verb }: RequestInfo, contentType: string): WriteVerb {
  if (verb === 'patch') return contentType.includes('apply-patch') ? 'apply' : 'patch'
  // #permitted lets four verbs through.
  return verb as WriteVerb
}

/** Returns who writes, if the token was bound to a pod. */
function writerOf({ name: user, extra }: UserInfo): Writer | undefined {
  const [, namespace = '', name = ''] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user) ?? []
  const [podName = ''] = extra['authentication.kubernetes.io/pod-name'] ?? []
  const [uid = ''] = extra['authentication.kubernetes.io/pod-uid'] ?? []
  if (name === '' || podName === '' || uid === '') return undefined
  return { user, account: { namespace, name }, pod: { namespace, name: podName, uid } }
}

/** Names the manager of fields as the API server does. */
function fieldManagerOf({ headers }: ApiRequest, { query }: RequestInfo): string {
  const given = query.get('fieldManager') ?? ''
  if (given !== '') return given
  return (headers['user-agent'] ?? '').split('/')[0] || 'unknown'
}

async function* collected(
  body: ApiRequest['body'],
  pieces: Uint8Array[],
): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.length
    if (bytes <= bodyBytesMax) pieces.push(piece)
    yield piece
  }
}

/** The registry has read the same body, and would have refused it. */
function appliedOf(
  pieces: readonly Uint8Array[],
  { query }: RequestInfo,
): AppliedConfiguration | undefined {
  const { value } = decodeBody(Buffer.concat(pieces), 'application/yaml')
  if (!isJsonObject(value)) return undefined
  return { configuration: value as AnyObject, isForced: isTrue(query.get('force')) }
}

function catchingUp(info: RequestInfo): StatusError {
  const why = 'the control plane has the writes of this node, which reads its answer now'
  return new StatusError('ServiceUnavailable', `Cannot take ${askedText(info)}: ${why}`, {
    details: { retryAfterSeconds: catchUpSeconds },
  })
}
