import {
  StatusError,
  type AnyObject,
  type NonResourceAttributes,
  type ResourceAttributes,
  type StatusCause,
  type SubjectAccessReview,
  type SubjectAccessReviewSpec,
} from '@skerry/api'
import type { Attributes, Authorizer, UserInfo } from '../access.ts'
import type { ReviewHandler } from '../review.ts'
import { typed } from '../typed-objects.ts'

const group = 'authorization.k8s.io'

/** "May that user do this?", anywhere or in the review's own namespace. */
export function createSubjectAccessReview(authorizer: Authorizer): ReviewHandler {
  return {
    async review({ object, namespace }) {
      const { kind, spec } = typed<SubjectAccessReview>(object)
      const causes = [...attributeCauses(spec), ...subjectCauses(spec)]
      if (namespace !== '') causes.push(...localCauses(spec, namespace))
      refuseIf(kind, causes)
      const user: UserInfo = {
        name: spec.user ?? '',
        groups: spec.groups ?? [],
        extra: spec.extra ?? {},
        ...(spec.uid ? { uid: spec.uid } : {}),
      }
      return answer(object, spec, user, authorizer)
    },
  }
}

/** "May I do this?" */
export function createSelfSubjectAccessReview(authorizer: Authorizer): ReviewHandler {
  return {
    async review({ object, user }) {
      const { kind, spec } = typed<SubjectAccessReview>(object)
      refuseIf(kind, attributeCauses(spec))
      return answer(object, spec, user, authorizer)
    },
  }
}

async function answer(
  object: AnyObject,
  spec: SubjectAccessReviewSpec,
  user: UserInfo,
  authorizer: Authorizer,
): Promise<AnyObject> {
  const { verdict, reason } = await authorizer.authorize(toAttributes(spec, user))
  return {
    ...object,
    status: {
      allowed: verdict === 'allow',
      ...(verdict === 'deny' ? { denied: true } : {}),
      ...(reason === '' ? {} : { reason }),
    },
  }
}

function toAttributes(spec: SubjectAccessReviewSpec, user: UserInfo): Attributes {
  const { resourceAttributes, nonResourceAttributes } = spec
  if (resourceAttributes) return resourceQuestion(resourceAttributes, user)
  const { verb = '', path = '' }: NonResourceAttributes = nonResourceAttributes ?? {}
  return { user, verb, path, isResourceRequest: false }
}

function resourceQuestion(asked: ResourceAttributes, user: UserInfo): Attributes {
  const fieldSelector = fieldSelectorOf(asked)
  return {
    user,
    verb: asked.verb ?? '',
    isResourceRequest: true,
    resource: {
      group: asked.group ?? '',
      version: asked.version || '*',
      resource: asked.resource ?? '',
    },
    subresource: asked.subresource ?? '',
    namespace: asked.namespace ?? '',
    name: asked.name ?? '',
    path: '',
    ...(fieldSelector === '' ? {} : { fieldSelector }),
    ...(asked.labelSelector?.rawSelector ? { labelSelector: asked.labelSelector.rawSelector } : {}),
  }
}

/** Requirements that cannot be written as a selector are left out: that only widens the question. */
function fieldSelectorOf({ fieldSelector }: ResourceAttributes): string {
  if (!fieldSelector) return ''
  if (fieldSelector.rawSelector) return fieldSelector.rawSelector
  const terms = (fieldSelector.requirements ?? []).flatMap(({ key, operator, values = [] }) => {
    const [value] = values
    if (values.length !== 1 || value === undefined) return []
    if (operator === 'In') return [`${key}=${value}`]
    return operator === 'NotIn' ? [`${key}!=${value}`] : []
  })
  return terms.join(',')
}

function attributeCauses(spec: SubjectAccessReviewSpec): StatusCause[] {
  const { resourceAttributes, nonResourceAttributes } = spec
  if (resourceAttributes && nonResourceAttributes) {
    return [
      invalid(
        'spec.nonResourceAttributes',
        nonResourceAttributes,
        'cannot be specified in combination with resourceAttributes',
      ),
    ]
  }
  if (resourceAttributes || nonResourceAttributes) return []
  return [
    invalid(
      'spec.resourceAttributes',
      null,
      'exactly one of nonResourceAttributes or resourceAttributes must be specified',
    ),
  ]
}

function subjectCauses(spec: SubjectAccessReviewSpec): StatusCause[] {
  if (spec.user || spec.groups?.length) return []
  return [invalid('spec.user', '', 'at least one of user or group must be specified')]
}

function localCauses(spec: SubjectAccessReviewSpec, namespace: string): StatusCause[] {
  if (spec.nonResourceAttributes) {
    const message = 'disallowed on this kind of request'
    return [invalid('spec.nonResourceAttributes', spec.nonResourceAttributes, message)]
  }
  const named = spec.resourceAttributes?.namespace ?? ''
  if (!spec.resourceAttributes || named === namespace) return []
  return [invalid('spec.resourceAttributes.namespace', named, 'must match metadata.namespace')]
}

function invalid(field: string, value: unknown, message: string): StatusCause {
  return {
    reason: 'FieldValueInvalid',
    field,
    message: `Invalid value: ${JSON.stringify(value)}: ${message}`,
  }
}

function refuseIf(kind: string, causes: readonly StatusCause[]): void {
  if (causes.length === 0) return
  const text = causes.map((cause) => `${cause.field}: ${cause.message}`)
  const joined = text.length === 1 ? text[0] : `[${text.join(', ')}]`
  throw new StatusError('Invalid', `${kind}.${group} "" is invalid: ${joined}`, {
    details: { group, kind, causes: [...causes] },
  })
}
