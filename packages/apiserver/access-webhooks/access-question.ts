import { parseFieldSelector, parseLabelSelector, type JsonObject } from '@skerry/api'
import type { Attributes } from '../contract/access.ts'

/** Builds the spec of a SubjectAccessReview for these attributes. */
export function accessQuestion(asked: Attributes): JsonObject {
  const { user, verb } = asked
  const extra = Object.fromEntries(
    Object.entries(user.extra).map(([key, values]) => [key, [...values]]),
  )
  return {
    ...(asked.isResourceRequest
      ? { resourceAttributes: resourceAttributesOf(asked) }
      : { nonResourceAttributes: { path: asked.path, verb } }),
    user: user.name,
    ...(user.groups.length > 0 ? { groups: [...user.groups] } : {}),
    ...(Object.keys(extra).length > 0 ? { extra } : {}),
    ...(user.uid ? { uid: user.uid } : {}),
  }
}

function resourceAttributesOf(asked: Attributes): JsonObject {
  const { group = '', version = '', resource = '' } = asked.resource ?? {}
  const texts = {
    namespace: asked.namespace,
    verb: asked.verb,
    group,
    version,
    resource,
    subresource: asked.subresource,
    name: asked.name,
  }
  const fields = fieldRequirements(asked.fieldSelector ?? '')
  const labels = labelRequirements(asked.labelSelector ?? '')
  const attributes: JsonObject = {}
  for (const [key, text] of Object.entries(texts)) if (text) attributes[key] = text
  if (fields.length > 0) attributes.fieldSelector = { requirements: fields }
  if (labels.length > 0) attributes.labelSelector = { requirements: labels }
  return attributes
}

/** Requirements only narrow the question, so unreadable ones are left out. */
function fieldRequirements(text: string): JsonObject[] {
  try {
    // An empty term, such as `=`, is not a requirement.
    const terms = parseFieldSelector(text).filter(({ field, value }) => field + value !== '')
    return terms.map(({ field, operator, value }) => ({
      key: field,
      operator: operator === '=' ? 'In' : 'NotIn',
      values: [value],
    }))
  } catch {
    // The handler refuses the selector with the reason.
    return []
  }
}

const labelOperators: Readonly<Record<string, string>> = {
  '=': 'In',
  '==': 'In',
  in: 'In',
  '!=': 'NotIn',
  notin: 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
}

function labelRequirements(text: string): JsonObject[] {
  try {
    return parseLabelSelector(text).requirements.flatMap(({ key, operator, values }) => {
      const name = labelOperators[operator]
      return name === undefined
        ? []
        : [{ key, operator: name, ...(values.length > 0 ? { values: [...values] } : {}) }]
    })
  } catch {
    // The handler refuses the selector with the reason.
    return []
  }
}
