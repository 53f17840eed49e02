import { StatusError, type AnyObject, type GroupResource, type StatusCause } from '@skerry/api'

/** Answers and refusals that several subresources share. */

/** metav1.Status of success, as creates answer that have nothing else to say. */
export const createdStatus: AnyObject = Object.freeze({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: Object.freeze({}),
  status: 'Success',
  code: 201,
})

function qualifiedName({ group, resource }: GroupResource): string {
  return group === '' ? resource : `${resource}.${group}`
}

export function notFound(resource: GroupResource, name: string): StatusError {
  return new StatusError(
    'NotFound',
    `${qualifiedName(resource)} ${JSON.stringify(name)} not found`,
    {
      details: detailsOf(resource, name),
    },
  )
}

export function conflict(resource: GroupResource, name: string, why: string): StatusError {
  const message = `Operation cannot be fulfilled on ${qualifiedName(resource)} ${JSON.stringify(name)}: ${why}`
  return new StatusError('Conflict', message, { details: detailsOf(resource, name) })
}

/** Returns `Kind.group "name" is invalid: field: message`, with its causes. */
export function invalidObject(
  kind: { group: string; kind: string },
  name: string,
  causes: readonly StatusCause[],
): StatusError {
  const texts = causes.map(({ field, message }) => `${field}: ${message}`)
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`
  const qualified = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`
  return new StatusError('Invalid', `${qualified} ${JSON.stringify(name)} is invalid: ${list}`, {
    details: {
      ...(name === '' ? {} : { name }),
      ...(kind.group === '' ? {} : { group: kind.group }),
      kind: kind.kind,
      causes: [...causes],
    },
  })
}

/** Formats a metav1.Time, in whole seconds. */
export function apiTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}

function detailsOf({ group, resource }: GroupResource, name: string) {
  return { name, ...(group === '' ? {} : { group }), kind: resource }
}
