import { decodeBodyBy, objectOfBody, type ReadYaml } from '@skerry/bodies'
import { fieldInvalid, isJsonObject, type AnyObject, type StatusCause } from '@skerry/api'
import { badRequest, invalid } from './registry-errors.ts'

export type PropagationPolicy = 'Orphan' | 'Background' | 'Foreground'

/** metav1.DeleteOptions, from the body or else the query. */
export interface DeleteOptions {
  readonly gracePeriodSeconds?: number
  readonly propagationPolicy?: PropagationPolicy
  readonly uid?: string
  readonly resourceVersion?: string
  readonly isDryRun: boolean
  /** The options object for admission. */
  readonly object: AnyObject
}

export const optionsKind = Object.freeze({
  group: 'meta.k8s.io',
  kind: 'DeleteOptions',
  resource: '',
})

export async function parseDeleteOptions(
  { bytes, contentType }: { bytes: Uint8Array; contentType: string },
  query: URLSearchParams,
  readYaml: ReadYaml,
): Promise<DeleteOptions> {
  const fields =
    bytes.length > 0
      ? objectOfBody(await decodeBodyBy(readYaml, bytes, contentType), bytes).object
      : ofQuery(query)
  return deleteOptionsOf(fields, isDryRun(query.getAll('dryRun')))
}

export function deleteOptionsOf(
  fields: Record<string, unknown>,
  isDryRunAsked = false,
): DeleteOptions {
  const kind = fields['kind']
  if (kind !== undefined && kind !== 'DeleteOptions') {
    throw badRequest(
      `no kind ${JSON.stringify(kind)} is registered for version "meta.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111"`,
    )
  }
  const preconditions = isJsonObject(fields['preconditions']) ? fields['preconditions'] : {}
  const uid = textOf(preconditions, 'uid')
  const resourceVersion = textOf(preconditions, 'resourceVersion')
  const gracePeriodSeconds = fields['gracePeriodSeconds']
  const propagationPolicy = policyOf(fields)
  return {
    ...(typeof gracePeriodSeconds === 'number' ? { gracePeriodSeconds } : {}),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    isDryRun: isDryRunAsked || isDryRun(fields['dryRun']),
    object: { ...fields, apiVersion: 'meta.k8s.io/v1', kind: 'DeleteOptions', metadata: {} },
  }
}

export const ignoreReadErrors = 'ignoreStoreReadErrorWithClusterBreakingPotential'

function ofQuery(query: URLSearchParams): Record<string, unknown> {
  const grace = query.get('gracePeriodSeconds')
  const policy = query.get('propagationPolicy')
  const orphan = query.get('orphanDependents')
  const ignored = query.get(ignoreReadErrors)
  if (grace !== null && !/^-?\d+$/.test(grace)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(grace)}: invalid syntax`)
  }
  return {
    ...(grace === null ? {} : { gracePeriodSeconds: Number(grace) }),
    ...(policy === null ? {} : { propagationPolicy: policy }),
    ...(ignored === null ? {} : { [ignoreReadErrors]: ignored === 'true' || ignored === '1' }),
    ...(orphan === null ? {} : { orphanDependents: orphan === 'true' }),
  }
}

function policyOf(fields: Record<string, unknown>): PropagationPolicy | undefined {
  const { propagationPolicy: policy, orphanDependents } = fields
  const hasOrphan = typeof orphanDependents === 'boolean'
  if (policy === undefined || policy === null || (policy === '' && !hasOrphan)) {
    if (!hasOrphan) return undefined
    return orphanDependents ? 'Orphan' : 'Background'
  }
  const field = 'propagationPolicy'
  const causes: StatusCause[] = []
  if (hasOrphan) {
    const detail = 'orphanDependents and deletionPropagation cannot be both set'
    causes.push(fieldInvalid(field, policy, detail))
  }
  const isKnown = policy === 'Orphan' || policy === 'Background' || policy === 'Foreground'
  if (!isKnown) {
    const supported = '"Foreground", "Background", "Orphan", "nil"'
    const message = `Unsupported value: ${JSON.stringify(policy)}: supported values: ${supported}`
    causes.push({ reason: 'FieldValueNotSupported', message, field })
  }
  if (causes.length > 0 || !isKnown) throw invalid(optionsKind, '', causes)
  return policy
}

function textOf(fields: Record<string, unknown>, key: string): string | undefined {
  const value = fields[key]
  return typeof value === 'string' ? value : undefined
}

/** `All` is the only valid value. Throws StatusError Invalid for others. */
export function isDryRun(value: unknown, optionsName = 'DeleteOptions'): boolean {
  if (!Array.isArray(value) || value.length === 0) return false
  if (value.every((item) => item === 'All')) return true
  const message = `Unsupported value: ${JSON.stringify(value)}: supported values: "All"`
  throw invalid({ ...optionsKind, kind: optionsName }, '', [
    { reason: 'FieldValueNotSupported', message, field: 'dryRun' },
  ])
}
