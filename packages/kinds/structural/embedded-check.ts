import {
  checkDns1035Label,
  checkPathSegment,
  fieldInvalid,
  fieldRequired,
  isJsonObject,
  memberOf,
  validateAnnotations,
  validateLabels,
  type JsonObject,
  type Schema,
  type StatusCause,
} from '@skerry/api'
import { isFull } from './full-causes.ts'
import { eachMember } from './schema-members.ts'

/**
 * Checks resources inside a custom resource, which name their kind and have metadata like any
 * other. Their types were checked when the object was decoded. The object itself, at the empty
 * path, was checked before.
 */
export function checkEmbedded(
  schema: Schema,
  { value, path }: { readonly value: unknown; readonly path: string },
  causes: StatusCause[],
): void {
  if (schema.ref !== undefined || isFull(causes)) return
  if (schema.embeddedResource && path !== '' && isJsonObject(value)) {
    causes.push(...checkKind(value, path), ...checkMetadata(value, path))
  }
  eachMember(schema, { value, path }, (below, at) => {
    if (typeof at.value === 'object' && at.value !== null) checkEmbedded(below, at, causes)
  })
}

function checkKind(resource: JsonObject, path: string): StatusCause[] {
  const causes: StatusCause[] = []
  const apiVersion = memberOf(resource, 'apiVersion')
  const where = `${path}.apiVersion`
  if (apiVersion === undefined) causes.push(fieldRequired(where))
  else if (apiVersion === '') causes.push(fieldInvalid(where, apiVersion, 'must not be empty'))
  else if (typeof apiVersion === 'string' && apiVersion.split('/').length > 2) {
    const detail = `unexpected GroupVersion string: ${apiVersion}`
    causes.push(fieldInvalid(where, apiVersion, detail))
  }
  const kind = memberOf(resource, 'kind')
  if (kind === undefined) causes.push(fieldRequired(`${path}.kind`))
  else if (kind === '') causes.push(fieldInvalid(`${path}.kind`, kind, 'must not be empty'))
  else if (typeof kind === 'string') {
    const wrong = checkDns1035Label(kind.toLowerCase())
    const detail = `may have mixed case, but should otherwise match: ${wrong.join(',')}`
    if (wrong.length > 0) causes.push(fieldInvalid(`${path}.kind`, kind, detail))
  }
  return causes
}

function checkMetadata(resource: JsonObject, path: string): StatusCause[] {
  const metadata = memberOf(resource, 'metadata')
  if (!isJsonObject(metadata)) return []
  const where = `${path}.metadata`
  const name = typeof metadata['name'] === 'string' ? metadata['name'] : ''
  return [
    ...checkPathSegment(name).map((text) => fieldInvalid(`${where}.name`, name, text)),
    ...validateLabels(textsOf(metadata['labels']), `${where}.labels`),
    ...validateAnnotations(textsOf(metadata['annotations']), `${where}.annotations`),
  ]
}

function textsOf(value: unknown): Record<string, string> {
  const entries = isJsonObject(value) ? Object.entries(value) : []
  return Object.fromEntries(entries.map(([key, text]) => [key, String(text)]))
}
