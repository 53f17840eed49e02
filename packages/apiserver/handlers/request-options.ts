import {
  parseFieldSelector,
  parseLabelSelector,
  validateManagerName,
  type AnyObject,
  type FieldRequirement,
  type Kind,
  type StatusCause,
} from '@skerry/api'
import type { Selection } from '../cache/selection.ts'
import { isTrue, type RequestInfo } from '../contract/request-info.ts'
import { isDryRun } from '../registry/delete-options.ts'
import type { ListOptions } from '../registry/list.ts'
import { badRequest, invalid, requireValid } from '../registry/registry-errors.ts'
import type { FieldValidation } from '../registry/request-scope.ts'

/** Reads the metav1.ListOptions of a list. Throws StatusError BadRequest or Invalid. */
export function parseListOptions(info: RequestInfo, kind: Kind): ListOptions {
  const { query } = info
  const match = query.get('resourceVersionMatch') ?? ''
  const resourceVersion = query.get('resourceVersion') ?? ''
  const continueToken = query.get('continue') ?? ''
  // A list ignores this option, but still refuses a value that is not a number.
  integer(query, 'timeoutSeconds')
  const limit = integer(query, 'limit') ?? 0
  // Unreadable options are reported before conflicting ones.
  parseLabelSelector(query.get('labelSelector') ?? '')
  parseFieldSelector(query.get('fieldSelector') ?? '')
  const causes: StatusCause[] = matchCauses({ match, resourceVersion, continueToken })
  if (query.has('sendInitialEvents')) {
    causes.push(forbiddenField('sendInitialEvents', 'sendInitialEvents is forbidden for list'))
  }
  if (causes.length > 0) throw invalid(listOptionsKind, '', causes)
  return {
    selection: parseSelection(info, kind),
    limit,
    continueToken,
    resourceVersion,
    resourceVersionMatch: match === 'Exact' || match === 'NotOlderThan' ? match : '',
  }
}

export interface WatchOptions {
  readonly selection: Selection
  readonly resourceVersion: string
  readonly wantsBookmarks: boolean
  /** If undefined, the resource version decides. */
  readonly sendInitialEvents: boolean | undefined
  readonly timeoutSeconds: number
}

export function parseWatchOptions(info: RequestInfo, kind: Kind): WatchOptions {
  const { query } = info
  const match = query.get('resourceVersionMatch') ?? ''
  const sendInitial = query.get('sendInitialEvents')
  const causes: StatusCause[] = []
  if (sendInitial !== null && match !== 'NotOlderThan') {
    causes.push(
      forbiddenField(
        'resourceVersionMatch',
        'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
      ),
    )
  }
  if (query.get('continue')) {
    const detail = 'resourceVersionMatch is forbidden when continue is provided'
    causes.push(forbiddenField('resourceVersionMatch', detail))
  }
  if (sendInitial !== null && match !== '' && match !== 'NotOlderThan') {
    const message = `Unsupported value: ${JSON.stringify(match)}: supported values: "NotOlderThan"`
    causes.push({ reason: 'FieldValueNotSupported', message, field: 'resourceVersionMatch' })
  }
  if (match !== '' && sendInitial === null) {
    causes.push(
      forbiddenField(
        'resourceVersionMatch',
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ),
    )
  }
  if (causes.length > 0) throw invalid(listOptionsKind, '', causes)
  return {
    selection: parseSelection(info, kind),
    resourceVersion: query.get('resourceVersion') ?? '',
    wantsBookmarks: isTrue(query.get('allowWatchBookmarks')),
    sendInitialEvents: sendInitial === null ? undefined : isTrue(sendInitial),
    timeoutSeconds: integer(query, 'timeoutSeconds') ?? 0,
  }
}

const listOptionsKind = Object.freeze({ group: 'meta.k8s.io', kind: 'ListOptions', resource: '' })

function matchCauses(options: {
  match: string
  resourceVersion: string
  continueToken: string
}): StatusCause[] {
  const { match, resourceVersion, continueToken } = options
  const field = 'resourceVersionMatch'
  if (match === '') return []
  const causes: StatusCause[] = []
  if (resourceVersion === '') {
    causes.push(
      forbiddenField(field, 'resourceVersionMatch is forbidden unless resourceVersion is provided'),
    )
  }
  if (continueToken !== '') {
    causes.push(
      forbiddenField(field, 'resourceVersionMatch is forbidden when continue is provided'),
    )
  }
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    const message = `Unsupported value: ${JSON.stringify(match)}: supported values: "Exact", "NotOlderThan", ""`
    causes.push({ reason: 'FieldValueNotSupported', message, field })
  }
  if (match === 'Exact' && resourceVersion === '0') {
    const detail = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
    causes.push(forbiddenField(field, detail))
  }
  return causes
}

function forbiddenField(field: string, detail: string): StatusCause {
  return { reason: 'FieldValueForbidden', message: `Forbidden: ${detail}`, field }
}

export function parseSelection(info: RequestInfo, kind: Kind): Selection {
  const { query } = info
  return {
    // A cluster-scoped kind's path has no namespace, except a namespace's own.
    namespace: kind.isNamespaced ? info.namespace : '',
    name: info.name,
    labels: parseLabelSelector(query.get('labelSelector') ?? ''),
    fields: parseFields(query.get('fieldSelector') ?? '', kind),
  }
}

function parseFields(text: string, kind: Kind): readonly FieldRequirement[] {
  if (text === '') return []
  // An empty term, such as `=`, is not a requirement.
  const requirements = parseFieldSelector(text).filter(({ field, value }) => field + value !== '')
  for (const { field } of requirements) {
    const isKnown =
      field === 'metadata.name' ||
      (field === 'metadata.namespace' && (kind.isNamespaced || !hasOwnLabels(kind))) ||
      kind.selectableFields.includes(field)
    if (!isKnown) throw unknownField(field, kind)
  }
  return requirements
}

/** The kinds that upstream names in its refusal. */
const labelsNamed: ReadonlySet<string> = new Set(['ResourceSlice'])

/** Upstream does not add the usual fields to kinds that declare their own. */
function hasOwnLabels({ selectableFields, isCustom }: Kind): boolean {
  return selectableFields.length > 0 || isCustom === true
}

function unknownField(field: string, kind: Kind): Error {
  if (hasOwnLabels(kind)) {
    if (kind.kind === 'Job') {
      return badRequest(`field label ${JSON.stringify(field)} not supported for Job`)
    }
    const { group, version } = kind
    const named = labelsNamed.has(kind.kind) ? ` for ${group}/${version}, Kind=${kind.kind}` : ''
    return badRequest(`field label not supported${named}: ${field}`)
  }
  const known = ['metadata.name', 'metadata.namespace', ...kind.selectableFields]
  const list = known.map((name) => JSON.stringify(name)).join(', ')
  return badRequest(`${JSON.stringify(field)} is not a known field selector: only ${list}`)
}

function integer(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null || text === '') return undefined
  if (/^-?\d{1,15}$/.test(text)) return Number(text)
  const why = /^[+-]?\d+$/.test(text) ? 'value out of range' : 'invalid syntax'
  throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: ${why}`)
}

/** The options that create, update and patch share. */
export interface WriteOptions {
  readonly isDryRun: boolean
  readonly fieldManager: string
  readonly fieldValidation: FieldValidation
  readonly force: boolean | undefined
}

export function parseWriteOptions(
  { query, verb }: RequestInfo,
  userAgent: string | undefined,
): WriteOptions {
  const optionsName = optionsNames[verb] ?? 'CreateOptions'
  const validation = query.get('fieldValidation') ?? ''
  const force = query.get('force')
  const manager = query.get('fieldManager')
  // A patch has its own rules for the field manager.
  if (manager !== null && verb !== 'patch') {
    const optionsKind = { group: 'meta.k8s.io', kind: optionsName, resource: '' }
    requireValid(optionsKind, '', validateManagerName(manager, 'fieldManager'))
  }
  return {
    isDryRun: isDryRun(query.getAll('dryRun'), optionsName),
    fieldManager: manager ?? managerOf(userAgent),
    fieldValidation: validationOf(validation, optionsName),
    force: force === null ? undefined : isTrue(force),
  }
}

/** Returns the options as the client gave them, for admission. */
export function writeOptionsObject({ query, verb }: RequestInfo): AnyObject {
  const dryRun = query.getAll('dryRun')
  const force = query.get('force')
  const texts = ['fieldManager', 'fieldValidation']
    .map((name) => [name, query.get(name)] as const)
    .filter(([, value]) => value !== null && value !== '')
  return {
    kind: optionsNames[verb] ?? 'CreateOptions',
    apiVersion: 'meta.k8s.io/v1',
    metadata: {},
    ...(dryRun.length > 0 ? { dryRun } : {}),
    ...(force === null ? {} : { force: isTrue(force) }),
    ...Object.fromEntries(texts),
  }
}

/** Returns the part of a user agent before its version, which names the manager if the client does not. */
function managerOf(userAgent = ''): string {
  return (userAgent.split('/')[0] ?? '').slice(0, 128) || 'unknown'
}

const optionsNames: Readonly<Record<string, string>> = Object.freeze({
  create: 'CreateOptions',
  update: 'UpdateOptions',
  patch: 'PatchOptions',
})

function validationOf(text: string, optionsName: string): FieldValidation {
  if (text === '') return 'Warn'
  if (text === 'Ignore' || text === 'Warn' || text === 'Strict') return text
  const message = `Unsupported value: ${JSON.stringify(text)}: supported values: "", "Ignore", "Strict", "Warn"`
  const cause = { reason: 'FieldValueNotSupported', message, field: 'fieldValidation' }
  throw invalid({ group: 'meta.k8s.io', kind: optionsName, resource: '' }, '', [cause])
}
