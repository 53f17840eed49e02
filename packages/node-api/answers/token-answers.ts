import { StatusError, fieldInvalid, type AnyObject, type Pod, type TokenRequest } from '@skerry/api'
import type {
  ApiAnswer,
  ReadPath,
  RequestInfo,
  SubresourceHandler,
  UserInfo,
} from '@skerry/apiserver'
import type { Clock } from '@skerry/base'
import { audiencesOf } from '@skerry/pki'
import { askedRight } from '../access/asked-right.ts'
import type { Identities } from '../access/identities.ts'
import type { Rights } from '../access/rights.ts'
import { nodeApiBounds } from '../limits-table.ts'
import type { LocalNode } from '../access/local-node.ts'
import { askedText, type AwayRequest } from './away-refusals.ts'

const { secondsMin, secondsMax } = nodeApiBounds.tokenAnswers

export interface TokenAnswersDeps {
  readonly readPath: ReadPath
  readonly rights: Rights
  readonly identities: Identities
  readonly node: Pick<LocalNode, 'findPod' | 'tokensOf' | 'signToken'>
  readonly clock: Clock
}

/**
 * Answers TokenRequests for pods of this node while the control plane is away. A token says the same as one that the
 * control plane gave the same pod: this node invents no account, no pod and no audience.
 */
export class TokenAnswers {
  readonly #deps: TokenAnswersDeps

  constructor(deps: TokenAnswersDeps) {
    this.#deps = deps
  }

  serves({ resource: { group, resource }, subresource }: RequestInfo): boolean {
    return group === '' && resource === 'serviceaccounts' && subresource === 'token'
  }

  /** Throws StatusError for refusals. */
  async answer({ request, info, user, refuse }: AwayRequest): Promise<ApiAnswer> {
    const { readPath, rights } = this.#deps
    if (!rights.couldDo(user, askedRight(info))) {
      const who = JSON.stringify(user.name)
      throw refuse(`${who} was not seen to have the right to ${askedText(info)} before`)
    }
    const requireVerb = (): Promise<void> => Promise.resolve()
    const caller = { info, user, signal: request.signal, requireVerb }
    return await readPath.part(request, caller, {
      handler: this.#handler(refuse),
      find: () => undefined,
    })
  }

  #handler(refuse: AwayRequest['refuse']): SubresourceHandler {
    const { node, clock, identities } = this.#deps
    return {
      serve: async ({ object, namespace, name, user }) => {
        if (!object) throw new StatusError('BadRequest', 'a TokenRequest is required')
        const { spec } = object as AnyObject & Pick<TokenRequest, 'spec'> // decoded by its schema
        const seconds = secondsOf(spec?.expirationSeconds ?? secondsMax)
        const pod = this.#podOf({ spec, namespace, account: name }, refuse)
        mustNotMultiply(user, pod)
        const [audience = identities.audience(), ...more] = spec?.audiences ?? []
        if (more.length > 0) throw refuse('it signs tokens for one audience')
        const former = node
          .tokensOf(pod.metadata.uid ?? '')
          .find((token) => audiencesOf(token).join() === audience)
        if (former === undefined) {
          const whom = `pod ${namespace}/${pod.metadata.name}`
          throw refuse(`it gave ${whom} no token for audience ${JSON.stringify(audience)}`)
        }
        const { token, expiresAtMs } = node.signToken(former, seconds)
        const given = {
          ...object,
          metadata: { name, namespace, creationTimestamp: timeText(clock.now()) },
          spec: { ...spec, audiences: [audience], expirationSeconds: seconds },
          status: { token, expirationTimestamp: timeText(expiresAtMs) },
        }
        return { type: 'object', status: 201, object: given }
      },
    }
  }

  #podOf({ spec, namespace, account }: AskedPod, refuse: AwayRequest['refuse']): Pod {
    const { kind, name = '', uid } = spec?.boundObjectRef ?? {}
    if (kind !== 'Pod' || name === '') {
      throw refuse('this node signs only tokens that are bound to a pod on it')
    }
    const pod = this.#deps.node.findPod(namespace, name)
    if (!pod) throw refuse(`pod ${namespace}/${name} is not on this node`)
    if (uid && uid !== pod.metadata.uid) {
      throw new StatusError('Conflict', `Cannot bind a token: pod ${name} has another uid`)
    }
    if ((pod.spec?.serviceAccountName || 'default') === account) return pod
    throw new StatusError(
      'BadRequest',
      `cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different serviceaccount name.`,
    )
  }
}

interface AskedPod {
  readonly spec: TokenRequest['spec'] | undefined
  readonly namespace: string
  readonly account: string
}

/** A token that was signed here brings only another one of the same pod. */
function mustNotMultiply({ extra }: UserInfo, pod: Pod): void {
  if (extra['authentication.skerry.io/signed-by-node'] === undefined) return
  const [own] = extra['authentication.kubernetes.io/pod-uid'] ?? []
  if (own === pod.metadata.uid) return
  const why = 'a token that a node has signed brings none of another pod'
  throw new StatusError('Forbidden', `Cannot request a token: ${why}`)
}

/** A shorter life than requested is allowed; a request for less than ten minutes is not. */
function secondsOf(asked: number): number {
  if (asked >= secondsMin) return Math.min(asked, secondsMax)
  const why = 'may not specify a duration less than 10 minutes'
  const cause = fieldInvalid('spec.expirationSeconds', asked, why)
  const text = `TokenRequest.authentication.k8s.io "" is invalid: ${cause.field}: ${cause.message}`
  throw new StatusError('Invalid', text, { details: { causes: [cause] } })
}

function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}
