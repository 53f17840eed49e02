import {
  fieldInvalid,
  isJsonObject,
  memberOf,
  setMember,
  labelSelectorOf,
  labelSelectorOfMap,
  type AnyObject,
  type JsonObject,
  type Kind,
  type ManagedFieldsEntry,
  type Subresource,
} from '@skerry/api'
import type { ApiAnswer } from '../contract/exchange.ts'
import { readBody } from '../http/read-body.ts'
import { methodNotAllowed } from '../contract/status-answer.ts'
import { decodeKindObject, typedObject } from '../registry/decode.ts'
import { trackChange } from '../registry/managed-fields.ts'
import { getObject } from '../registry/read.ts'
import type { RequestScope } from '../registry/request-scope.ts'
import { badRequest, invalid } from '../registry/registry-errors.ts'
import { changeObject, requireNameOfPath } from '../registry/update.ts'
import { isApplyPatch, patchFunction, requirePatchOptions } from './patch-handler.ts'
import { patchedObject } from './patched-object.ts'
import { valueAnswer } from './represent.ts'
import { parseWriteOptions } from './request-options.ts'
import { hasField, scaleApply } from './scale-apply.ts'
import {
  readObjectBody,
  readYamlOf,
  registeredIn,
  scopeOf,
  viewFor,
  type HandlerDeps,
  type ResourceCall,
} from './resource-call.ts'

type ScalePaths = NonNullable<Subresource['scale']>

/** Serves the autoscaling/v1 Scale of any kind that declares where its replicas are. */
export async function scaleAnswer(
  call: ResourceCall,
  subresource: Subresource,
  deps: HandlerDeps,
): Promise<ApiAnswer> {
  const { scale: paths } = subresource
  const { info, reader } = call
  if (!paths || !subresource.verbs.includes(info.verb)) throw methodNotAllowed()
  const { representation } = viewFor(call, deps)
  if (info.verb === 'get') {
    const cached = await getObject(scopeOf(call), '', deps)
    await reader.prepare?.([cached], call.signal)
    return valueAnswer(200, scaleOf(reader.parse(cached), paths), representation)
  }
  const isApply = info.verb === 'patch' && isApplyPatch(call.request)
  const options = parseWriteOptions(info, isApply ? '' : call.request.headers['user-agent'])
  if (info.verb === 'patch') requirePatchOptions(options, isApply, info.query)
  const scope = scopeOf(call, options)
  const nextScale = isApply
    ? await appliedScale(call, { subresource, paths }, scope, deps)
    : await scaleChange(call, subresource, deps)
  const change = {
    async next(current: AnyObject | undefined): Promise<AnyObject> {
      // changeObject never asks for a missing object unless it may be created.
      if (!current) throw new TypeError('Cannot scale: there is no object')
      const { scale, managedFields } = await nextScale(scaleOf(current, paths), current)
      requireName(scale, call)
      requireReplicas(scale, call, paths)
      const next = structuredClone(current)
      setPath(next, paths.specReplicasPath, replicasOf(scale))
      const { uid, resourceVersion } = scale.metadata
      if (uid !== undefined) next.metadata.uid = uid
      next.metadata.resourceVersion = resourceVersion ?? ''
      if (managedFields) next.metadata.managedFields = [...managedFields]
      else trackScale(next, current, { paths, scope, deps })
      return next
    },
    mayCreate: false,
    isDerived: info.verb === 'patch',
    attemptsMax: deps.limits.updateAttemptsMax,
    part: {
      show: (object: AnyObject) => scaleOf(object, paths),
      write: (next: AnyObject, scale: AnyObject) =>
        setPath(next, paths.specReplicasPath, replicasOf(scale)),
    },
  }
  const { cached } = await changeObject(change, scope, deps)
  await reader.prepare?.([cached], call.signal)
  return valueAnswer(200, scaleOf(reader.parse(cached), paths), representation)
}

/**
 * Updates the owner of the replicas. A scale to zero does not mention replicas, so their former
 * owner loses them and nobody gains them. Replicas without an owner are not tracked.
 */
function trackScale(
  next: AnyObject,
  current: AnyObject,
  { paths, scope, deps }: { paths: ScalePaths; scope: RequestScope; deps: HandlerDeps },
): void {
  const path = paths.specReplicasPath.split('.').slice(1)
  const entries = current.metadata.managedFields ?? []
  if (!entries.some(({ fieldsV1 }) => hasField(fieldsV1, path))) return
  const seen = structuredClone(next)
  const isToZero = replicasOf(scaleOf(next, paths)) === 0
  if (isToZero && replicasOf(scaleOf(current, paths)) !== 0) {
    setPath(seen, paths.specReplicasPath, undefined)
  }
  trackChange(seen, current, scope, deps)
  next.metadata = seen.metadata
}

/** If the result has no managedFields, the changes decide who owns the replicas. */
type NextScale = (live: AnyObject, current: AnyObject) => NextScaled | Promise<NextScaled>

interface NextScaled {
  readonly scale: AnyObject
  readonly managedFields?: readonly ManagedFieldsEntry[]
}

async function appliedScale(
  call: ResourceCall,
  { subresource, paths }: { subresource: Subresource; paths: ScalePaths },
  scope: RequestScope,
  deps: HandlerDeps,
): Promise<NextScale> {
  const kind = scaleKind(call.reader.kind, subresource)
  const { fieldValidation } = scope
  const scaled = {
    schemaName: kind.schemaName,
    replicasPath: paths.specReplicasPath.split('.').slice(1),
  }
  const apply = await scaleApply(call, scaled, scope, deps)
  return (live, current) => {
    const { scale, managedFields } = apply(current, live)
    const typed = typedObject({ ...scale }, [], { kind, fieldValidation, warn: call.warn })
    return { scale: typed, managedFields }
  }
}

async function scaleChange(
  call: ResourceCall,
  subresource: Subresource,
  deps: HandlerDeps,
): Promise<NextScale> {
  const { warn, info, request } = call
  const kind = scaleKind(call.reader.kind, subresource)
  const { fieldValidation } = parseWriteOptions(info, request.headers['user-agent'])
  const { bodyBytesMax: bytesMax } = deps.limits
  if (info.verb === 'update') {
    const body = await readObjectBody(call, kind.schemaName, deps)
    const isRegistered = registeredIn(deps)
    const scale = await decodeKindObject({
      kind,
      ...body,
      fieldValidation,
      bytesMax,
      readYaml: readYamlOf(call, deps),
      warn,
      isRegistered,
    })
    requireNameOfPath(scale, scopeOf(call))
    return () => ({ scale })
  }
  const bytes = await readBody(request.body, bytesMax, request.held)
  const plan = patchFunction({ request, reader: { ...call.reader, kind } }, bytes)
  const asked = { kind, fieldValidation, warn, isRegistered: registeredIn(deps) }
  return async (live) => ({ scale: await patchedObject(live, plan, asked) })
}

function scaleKind(parent: Kind, { kind }: Subresource): Kind {
  return { ...parent, ...kind, schemaName: scaleSchema, strategy: {}, isCustom: false }
}

const scaleSchema = 'io.k8s.api.autoscaling.v1.Scale'

function scaleOf(object: AnyObject, paths: ScalePaths): AnyObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const selector = selectorText(paths.labelSelectorPath && getPath(object, paths.labelSelectorPath))
  const wanted = numberAt(object, paths.specReplicasPath)
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      creationTimestamp: creationTimestamp ?? null,
    },
    spec: wanted === 0 ? {} : { replicas: wanted },
    status: {
      replicas: numberAt(object, paths.statusReplicasPath),
      ...(selector === '' ? {} : { selector }),
    },
  }
}

function requireName({ metadata }: AnyObject, { info }: ResourceCall): void {
  if (!metadata.name || metadata.name === info.name) return
  throw badRequest(
    `the name of the object (${metadata.name}) does not match the name on the URL (${info.name})`,
  )
}

function requireReplicas(
  scale: AnyObject,
  { info, reader }: ResourceCall,
  { specReplicasPath }: ScalePaths,
): void {
  const replicas = replicasOf(scale)
  if (replicas >= 0) return
  if (reader.kind.isCustom) {
    const detail = 'should be a non-negative integer'
    throw invalid(reader.kind, info.name, [fieldInvalid(specReplicasPath, replicas, detail)])
  }
  const kind = { ...reader.kind, group: 'autoscaling', kind: 'Scale' }
  const detail = 'must be greater than or equal to 0'
  throw invalid(kind, info.name, [fieldInvalid('spec.replicas', replicas, detail)])
}

function replicasOf(scale: AnyObject): number {
  return numberAt(scale, '.spec.replicas')
}

function numberAt(object: AnyObject, path: string): number {
  const value = getPath(object, path)
  return typeof value === 'number' ? value : 0
}

/** Formats a selector, whether the kind holds it as text, as labels or as a LabelSelector. */
function selectorText(value: unknown): string {
  if (typeof value === 'string') return value
  if (!isJsonObject(value)) return ''
  if ('matchLabels' in value || 'matchExpressions' in value)
    return labelSelectorOf(value).toString()
  const labels = Object.entries(value).map(([key, label]) => [key, String(label)])
  return labelSelectorOfMap(Object.fromEntries(labels)).toString()
}

function getPath(object: JsonObject, path: string): unknown {
  let value: unknown = object
  for (const part of path.split('.').slice(1)) {
    if (!isJsonObject(value)) return undefined
    value = memberOf(value, part)
  }
  return value
}

/**
 * Sets own members only: a definition may name any path, and one through a prototype would change
 * every object.
 */
function setPath(object: JsonObject, path: string, value: unknown): void {
  const parts = path.split('.').slice(1)
  const last = parts.pop() ?? ''
  let target = object
  for (const part of parts) {
    const next = memberOf(target, part)
    const made: JsonObject = isJsonObject(next) ? next : {}
    setMember(target, part, made)
    target = made
  }
  setMember(target, last, value)
}
