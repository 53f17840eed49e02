import { StatusError, type Kind, type StatusCause } from '@skerry/api'
import { apiServerBounds } from '../limits-table.ts'

type Named = Pick<Kind, 'group' | 'kind' | 'resource' | 'storageGroup'>

export function notFound(kind: Named, name: string): StatusError {
  return new StatusError('NotFound', `${qualified(kind)} ${JSON.stringify(name)} not found`, {
    details: resourceDetails(kind, name),
  })
}

export function alreadyExists(kind: Named, name: string, isLeaving = false): StatusError {
  return new StatusError(
    'AlreadyExists',
    `${isLeaving ? 'object is being deleted: ' : ''}${qualified(kind)} ${JSON.stringify(name)} already exists`,
    { details: resourceDetails(kind, name) },
  )
}

/** Reports that every generated name was taken, or a given name next to its generateName. */
export function generateNameConflict(kind: Named, name: string, isLeaving = false): StatusError {
  return new StatusError(
    'AlreadyExists',
    `${isLeaving ? 'object is being deleted: ' : ''}${qualified(kind)} ${JSON.stringify(name)} already exists, the server was not able to generate a unique name for the object`,
    { details: { ...resourceDetails(kind, name), retryAfterSeconds: 1 } },
  )
}

/** Reports that the body, or the result of a patch, has no name. The name in the path does not replace it. */
export function unnamed(nameOfPath: string): StatusError {
  return badRequest(
    `the name of the object (${nameOfPath} based on URL) was undeterminable: name must be provided`,
  )
}

export function conflict(kind: Named, name: string, why: string): StatusError {
  return new StatusError(
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(kind)} ${JSON.stringify(name)}: ${why}`,
    { details: resourceDetails(kind, name) },
  )
}

export function modifiedConflict(kind: Named, name: string): StatusError {
  return conflict(
    kind,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  )
}

/** Throws unless there are no causes. */
export function requireValid(kind: Named, name: string, causes: readonly StatusCause[]): void {
  if (causes.length > 0) throw invalid(kind, name, causes)
}

export function invalid(kind: Named, name: string, causes: readonly StatusCause[]): StatusError {
  const group = kind.storageGroup ?? kind.group
  const whole = group === '' ? kind.kind : `${kind.kind}.${group}`
  const told = causesThatFit(causes)
  const unique = uniqueCauses(told)
  const texts = unique.map(({ field, message }) => (field ? `${field}: ${message}` : `${message}`))
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`
  return new StatusError('Invalid', `${whole} ${JSON.stringify(name)} is invalid: ${list}`, {
    details: {
      ...(name === '' ? {} : { name }),
      ...(group === '' ? {} : { group }),
      kind: kind.kind,
      causes: told,
    },
  })
}

const { causeCharactersMax } = apiServerBounds.registryErrors

/** The path of a cause can be as long as a body, and there can be many. At least one is reported. */
function causesThatFit(causes: readonly StatusCause[]): StatusCause[] {
  let left = causeCharactersMax
  return causes.filter(({ field = '', message = '' }, at) => {
    left -= field.length + message.length
    return left >= 0 || at === 0
  })
}

function uniqueCauses(causes: readonly StatusCause[]): StatusCause[] {
  const seen = new Set<string>()
  return causes.filter(({ field, message }) => {
    const key = `${field} ${message}`
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}

export function badRequest(message: string): StatusError {
  return new StatusError('BadRequest', message)
}

export function expired(message: string): StatusError {
  return new StatusError('Expired', message)
}

export function qualified({ group, resource }: Pick<Kind, 'group' | 'resource'>): string {
  return group === '' ? resource : `${resource}.${group}`
}

function resourceDetails(kind: Named, name: string) {
  return {
    ...(name === '' ? {} : { name }),
    ...(kind.group === '' ? {} : { group: kind.group }),
    kind: kind.resource,
  }
}

/** Reports the server's own fault, in upstream's words. */
export function internalError(reason: string): StatusError {
  return new StatusError('InternalError', `Internal error occurred: ${reason}`, {
    details: { causes: [{ message: reason }] },
  })
}
