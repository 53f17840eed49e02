import {
  createSelfSubjectAccessReview,
  createSelfSubjectReview,
  createSubjectAccessReview,
  createTokenReview,
  type ApiAnswer,
  type Attributes,
  type Authorizer,
  type ReadPath,
  type RequestInfo,
  type ReviewHandler,
} from '@skerry/apiserver'
import type { Clock } from '@skerry/base'
import { askedRight, type AskedRight } from '../access/asked-right.ts'
import type { Identities } from '../access/identities.ts'
import type { Rights } from '../access/rights.ts'
import { askedText, type AwayRequest } from './away-refusals.ts'

export interface ReviewAnswersDeps {
  readonly readPath: ReadPath
  readonly rights: Rights
  readonly identities: Identities
  readonly clock: Clock
}

/** Answers who somebody is and what they may do, from what the control plane confirmed before it went away. */
export class ReviewAnswers {
  readonly #deps: ReviewAnswersDeps

  constructor(deps: ReviewAnswersDeps) {
    this.#deps = deps
  }

  serves(info: RequestInfo): boolean {
    return info.subresource === '' && Object.hasOwn(reviews, nameOf(info))
  }

  /** Throws StatusError for refusals. */
  async answer({ request, info, user, refuse }: AwayRequest): Promise<ApiAnswer> {
    const { readPath, rights } = this.#deps
    const review = reviews[nameOf(info)]
    if (!review) throw new TypeError(`Cannot answer ${nameOf(info)}: it is not a review`)
    if (!review.isOpen && !rights.couldDo(user, { ...askedRight(info), name: '' })) {
      const who = JSON.stringify(user.name)
      throw refuse(`${who} was not seen to have the right to ${askedText(info)} before`)
    }
    const handler = review.handler({ ...this.#deps, authorizer: this.#authorizer(refuse) })
    const requireVerb = (): Promise<void> => Promise.resolve()
    const { signal } = request
    return await readPath.review(request, { info, user, signal, requireVerb }, handler)
  }

  /** Whatever was not confirmed is not allowed; the error in the answer says that it may be at the control plane. */
  #authorizer(refuse: AwayRequest['refuse']): Authorizer {
    const { rights } = this.#deps
    return {
      async authorize(attributes) {
        const isAllowed = rights.couldDo(attributes.user, rightOf(attributes))
        if (isAllowed) return { verdict: 'allow', reason: 'the control plane allowed it before' }
        const error = refuse('was not seen to allow this before')
        return { verdict: 'no-opinion', reason: '', error }
      },
    }
  }
}

interface Review {
  /** True if every user may ask. */
  readonly isOpen: boolean
  readonly handler: (deps: ReviewAnswersDeps & { readonly authorizer: Authorizer }) => ReviewHandler
}

const reviews: Readonly<Record<string, Review>> = Object.freeze({
  'selfsubjectreviews.authentication.k8s.io': {
    isOpen: true,
    handler: ({ clock }) => createSelfSubjectReview(clock),
  },
  'selfsubjectaccessreviews.authorization.k8s.io': {
    isOpen: true,
    handler: ({ authorizer }) => createSelfSubjectAccessReview(authorizer),
  },
  'subjectaccessreviews.authorization.k8s.io': {
    isOpen: false,
    handler: ({ authorizer }) => createSubjectAccessReview(authorizer),
  },
  'localsubjectaccessreviews.authorization.k8s.io': {
    isOpen: false,
    handler: ({ authorizer }) => createSubjectAccessReview(authorizer),
  },
  'tokenreviews.authentication.k8s.io': {
    isOpen: false,
    handler: ({ identities }) =>
      createTokenReview({ tokens: identities, audiences: [identities.audience()] }),
  },
})

function nameOf({ resource: { group, resource } }: RequestInfo): string {
  return `${resource}.${group}`
}

function rightOf(attributes: Attributes): AskedRight {
  const { verb, isResourceRequest, resource, subresource = '', path } = attributes
  const { namespace = '', name = '', labelSelector = '', fieldSelector = '' } = attributes
  const right = {
    verb,
    group: resource?.group ?? '',
    resource: resource?.resource ?? '',
    namespace,
    name,
    labelSelector,
    fieldSelector,
    path: isResourceRequest ? '' : path,
  }
  return subresource === '' ? right : { ...right, subresource }
}
