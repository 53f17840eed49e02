import {
  parseLabelSelector,
  printFieldSelector,
  StatusError,
  type AnyObject,
  type FieldRequirement,
  type NonResourceAttributes,
  type ObjectMeta,
  type ResourceAttributes,
  type SubjectAccessReview,
  type SubjectAccessReviewSpec,
} from '@skerry/api'
import type { Attributes, Authorizer, UserInfo } from '../contract/access.ts'
import type { ReviewHandler } from '../contract/review.ts'
import { typed } from '../contract/typed-objects.ts'
import {
  attributeCauses,
  evaluationError,
  localCauses,
  metadataCauses,
  refuseIf,
  subjectCauses,
} from './review-validation.ts'

/** Answers "May that user do this?", anywhere or in the review's own namespace. */
export function createSubjectAccessReview(authorizer: Authorizer): ReviewHandler {
  return {
    async review({ object, namespace, admitValid }) {
      const { spec, metadata } = typed<SubjectAccessReview>(object)
      const causes = [...attributeCauses(spec), ...subjectCauses(spec), ...metadataCauses(metadata)]
      if (namespace !== '') causes.push(...localCauses(spec, namespace))
      refuseIf(causes)
      await admitValid()
      object.metadata = answeredMetadata(metadata, namespace)
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

/** Answers "May I do this?". */
export function createSelfSubjectAccessReview(authorizer: Authorizer): ReviewHandler {
  return {
    async review({ object, user, admitValid }) {
      const { spec, metadata } = typed<SubjectAccessReview>(object)
      refuseIf([...attributeCauses(spec), ...metadataCauses(metadata)])
      await admitValid()
      object.metadata = answeredMetadata(metadata, '')
      return answer(object, spec, user, authorizer)
    },
  }
}

/** A review has no name, and its author is known. */
function answeredMetadata({ managedFields }: ObjectMeta, namespace: string): ObjectMeta {
  return {
    ...(namespace === '' ? {} : { namespace }),
    ...(managedFields ? { managedFields } : {}),
  }
}

async function answer(
  object: AnyObject,
  spec: SubjectAccessReviewSpec,
  user: UserInfo,
  authorizer: Authorizer,
): Promise<AnyObject> {
  const { verdict, reason, error } = await authorizer.authorize(toAttributes(spec, user))
  const notUnderstood = evaluationError(spec) ?? error?.message
  return {
    ...object,
    status: {
      allowed: verdict === 'allow',
      ...(verdict === 'deny' ? { denied: true } : {}),
      ...(reason === '' ? {} : { reason }),
      ...(notUnderstood === undefined ? {} : { evaluationError: notUnderstood }),
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
  const labelSelector = labelSelectorTextOf(asked)
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
    ...(labelSelector === '' ? {} : { labelSelector }),
  }
}

/** Requirements that cannot be written as a selector are left out: that only widens the question. */
function fieldSelectorOf({ fieldSelector }: ResourceAttributes): string {
  if (!fieldSelector) return ''
  if (fieldSelector.rawSelector) return fieldSelector.rawSelector
  const terms = (fieldSelector.requirements ?? []).flatMap(
    ({ key, operator, values = [] }): FieldRequirement[] => {
      const [value] = values
      if (values.length !== 1 || value === undefined) return []
      if (operator === 'In') return [{ field: key, operator: '=', value }]
      return operator === 'NotIn' ? [{ field: key, operator: '!=', value }] : []
    },
  )
  return printFieldSelector(terms)
}

/** Does the same for labels. */
function labelSelectorTextOf({ labelSelector }: ResourceAttributes): string {
  if (!labelSelector) return ''
  if (labelSelector.rawSelector) return labelSelector.rawSelector
  const terms = (labelSelector.requirements ?? []).flatMap(({ key, operator, values = [] }) => {
    const list = `(${values.join(',')})`
    if (operator === 'In') return [`${key} in ${list}`]
    if (operator === 'NotIn') return [`${key} notin ${list}`]
    if (operator === 'Exists') return [key]
    return operator === 'DoesNotExist' ? [`!${key}`] : []
  })
  return terms.filter(isLabelSelector).join(',')
}

/** If it were joined into one text, an invalid term could change the meaning of the others. */
function isLabelSelector(text: string): boolean {
  try {
    return parseLabelSelector(text).requirements.length === 1
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return false
  }
}
