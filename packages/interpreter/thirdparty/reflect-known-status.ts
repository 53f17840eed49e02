import { isJsonObject, type AnyObject, type JsonObject } from '@skerry/api'
import { karmadaKeys } from '@skerry/karmada-kinds'
import { fieldAt } from '@skerry/fleet-kinds'
import type { StatusFields } from './known-kind.ts'

/** Returns the part of an object's status to report, with the generations that identify its template. */
export function reflectKnownStatus(object: AnyObject, fields: StatusFields): JsonObject {
  const status = fieldAt(object, 'status')
  if (!isJsonObject(status)) return {}
  const { generation, annotations } = object.metadata
  const templateGeneration = Number(annotations?.[karmadaKeys.templateGeneration] ?? Number.NaN)
  const entries = reflectedFields(fields).map((field) => [field, status[field]] as const)
  return {
    ...Object.fromEntries(entries.filter(([, value]) => value !== undefined && value !== null)),
    ...(generation === undefined ? {} : { generation }),
    ...(Number.isFinite(templateGeneration)
      ? { resourceTemplateGeneration: templateGeneration }
      : {}),
  }
}

function reflectedFields(fields: StatusFields): string[] {
  const { counts = [], optionalCounts = [], texts = [], lastingTexts = [] } = fields
  const { objects = [], ofOneCopy = [], hasConditions = false } = fields
  return [
    ...counts,
    ...optionalCounts,
    ...texts,
    ...lastingTexts,
    ...objects,
    ...ofOneCopy,
    ...(hasConditions ? ['conditions'] : []),
    'observedGeneration',
  ]
}
