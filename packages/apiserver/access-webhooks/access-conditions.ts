import { kubernetesEnvironment } from '@skerry/kinds'
import type { JsonObject } from '@skerry/api'
import {
  CelCompileError,
  CelCostError,
  CelRuntimeError,
  celTypes,
  listType,
  mapType,
  objectType,
  typeText,
  type CelEnvironment,
  type ObjectType,
} from '@skerry/cel'

/**
 * Returns true if the webhook must be asked. Throws Error if every condition either holds or fails,
 * and at least one failed.
 */
export type AccessConditions = (question: JsonObject) => boolean

const specType = 'kubernetes.SubjectAccessReviewSpec'
const texts = (...names: string[]): ObjectType['fields'] =>
  Object.fromEntries(names.map((name) => [name, { type: celTypes.string }]))
const attributeNames = [
  'namespace',
  'verb',
  'group',
  'version',
  'resource',
  'subresource',
  'name',
] as const
const selectorType = (): ObjectType => ({
  fields: {
    ...texts('rawSelector'),
    requirements: { type: listType(objectType('kubernetes.SelectorRequirement')) },
  },
})

let known: CelEnvironment | undefined

function environment(): CelEnvironment {
  const strings = listType(celTypes.string)
  known ??= kubernetesEnvironment().extend({
    variables: { request: objectType(specType) },
    types: {
      [specType]: {
        fields: {
          ...texts('user', 'uid'),
          groups: { type: strings },
          extra: { type: mapType(celTypes.string, strings) },
          resourceAttributes: { type: objectType('kubernetes.ResourceAttributes') },
          nonResourceAttributes: { type: objectType('kubernetes.NonResourceAttributes') },
        },
      },
      'kubernetes.ResourceAttributes': {
        fields: {
          ...texts(...attributeNames),
          fieldSelector: { type: objectType('kubernetes.FieldSelectorAttributes') },
          labelSelector: { type: objectType('kubernetes.LabelSelectorAttributes') },
        },
      },
      'kubernetes.NonResourceAttributes': { fields: texts('path', 'verb') },
      'kubernetes.FieldSelectorAttributes': selectorType(),
      'kubernetes.LabelSelectorAttributes': selectorType(),
      'kubernetes.SelectorRequirement': {
        fields: { ...texts('key', 'operator'), values: { type: strings } },
      },
    },
  })
  return known
}

/**
 * Returns why the expression cannot be a condition, in upstream's words, or undefined if it can.
 */
export function conditionProblem(text: string): string | undefined {
  try {
    const { resultType } = environment().compile(text)
    if (resultType.kind === 'bool') return undefined
    return `must evaluate to bool but got ${typeText(resultType)}`
  } catch (error) {
    if (!(error instanceof CelCompileError)) throw error
    return `compilation failed: ${error.message}`
  }
}

/** A single condition that evaluates to false means no; failures count only if none does. */
export function compileConditions(expressions: readonly string[]): AccessConditions {
  const programs = expressions.map((text) => ({ text, program: environment().compile(text) }))
  return (question) => {
    const request = wholeQuestion(question)
    const failures: string[] = []
    for (const { text, program } of programs) {
      try {
        if (program.evaluate({ request }).value === false) return false
      } catch (error) {
        if (!(error instanceof CelRuntimeError || error instanceof CelCostError)) throw error
        failures.push(
          `cel evaluation error: expression '${text}' resulted in error: ${error.message}`,
        )
      }
    }
    if (failures.length === 0) return true
    throw new Error(failures.length === 1 ? failures[0] : `[${failures.join(', ')}]`)
  }
}

/** Expressions can read every text field, including empty ones that are not sent. */
function wholeQuestion(question: JsonObject): JsonObject {
  const { resourceAttributes } = question
  const empty = Object.fromEntries(attributeNames.map((name) => [name, '']))
  return {
    user: '',
    uid: '',
    groups: [],
    extra: {},
    ...question,
    ...(resourceAttributes ? { resourceAttributes: { ...empty, ...resourceAttributes } } : {}),
  }
}
