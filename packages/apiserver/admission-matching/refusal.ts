import { StatusError, type StatusCause } from '@skerry/api'
import type { AdmissionRequest } from '../contract/admission.ts'

/** Creates a refusal by an admission plugin: `pods "web" is forbidden: <why>`. */
export function refuse(
  request: AdmissionRequest,
  why: string,
  causes: readonly StatusCause[] = [],
): StatusError {
  const { group, resource } = request.resource
  const name = nameOf(request)
  const qualified = group === '' ? resource : `${resource}.${group}`
  return new StatusError('Forbidden', `${qualified} ${JSON.stringify(name)} is forbidden: ${why}`, {
    details: {
      name,
      ...(group === '' ? {} : { group }),
      kind: resource,
      ...(causes.length === 0 ? {} : { causes: [...causes] }),
    },
  })
}

/** The name may not have been generated yet. */
function nameOf({ name, object }: AdmissionRequest): string {
  return name || object?.metadata.name || object?.metadata.generateName || 'Unknown'
}
