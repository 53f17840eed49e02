import { cloneAsSent } from '@skerry/bodies'
import { StatusError, type Subresource } from '@skerry/api'
import type { ApiAnswer } from '../contract/exchange.ts'
import { methodNotAllowed, notFoundPath } from '../contract/status-answer.ts'
import { createObject } from '../registry/create.ts'
import { deleteCollection } from '../registry/delete-collection.ts'
import { parseDeleteOptions, type DeleteOptions } from '../registry/delete-options.ts'
import { deleteObject } from '../registry/delete.ts'
import { dropUnreadable } from '../registry/drop-unreadable.ts'
import { listObjects } from '../registry/list.ts'
import { changeSteps, createSteps } from '../registry/managed-fields.ts'
import { badRequest, notFound } from '../registry/registry-errors.ts'
import { isPart } from '../registry/part-table.ts'
import { getObject } from '../registry/read.ts'
import { paced } from '../registry/request-scope.ts'
import { changeObject, requireNameOfPath, requireNamespace } from '../registry/update.ts'
import { patchObject } from './patch-handler.ts'
import { listAnswer, objectAnswer, valueAnswer, type View } from './represent.ts'
import {
  parseListOptions,
  parseSelection,
  parseWatchOptions,
  parseWriteOptions,
} from './request-options.ts'
import {
  decodeBodyOf,
  readObjectBody,
  readYamlOf,
  scopeOf,
  viewFor,
  type HandlerDeps,
  type ResourceCall,
} from './resource-call.ts'
import { scaleAnswer } from './scale-handler.ts'
import { watchAnswer } from './watch-handler.ts'

/** The generic registry over HTTP: one function for every verb on every kind. */
export async function serveResource(call: ResourceCall, deps: HandlerDeps): Promise<ApiAnswer> {
  const { info, reader } = call
  const { kind } = reader
  if (info.subresource === 'scale') return scaleAnswer(call, requireSubresource(call), deps)
  if (info.subresource !== '') requireSubresource(call)
  // Other subresources (log, exec, binding, …) are served only if there is a handler.
  if (info.subresource !== '' && !isPart(info.subresource)) throw notFoundPath()
  const { verb } = info
  if (verb === 'watch' && kind.verbs.includes('list') && !kind.verbs.includes('watch')) {
    throw watchNotSupported(kind.resource)
  }
  if (!isServed(call) || info.method === 'HEAD') throw methodNotAllowed()
  requireNameSegment(info.name)
  const needsNamespace = kind.isNamespaced && info.namespace === ''
  if (needsNamespace && verb !== 'list' && verb !== 'watch') {
    throw info.name === '' ? methodNotAllowed() : notFoundPath()
  }
  switch (verb) {
    case 'get':
      return getAnswer(call, deps)
    case 'list':
      return listed(call, deps)
    case 'watch':
      return watched(call, deps)
    case 'create':
      return created(call, deps)
    case 'update':
      return updated(call, deps)
    case 'patch':
      return patchObject(call, deps)
    case 'delete':
      return deleted(call, deps)
    case 'deletecollection':
      return collectionDeleted(call, deps)
    default:
      throw methodNotAllowed()
  }
}

function watchNotSupported(resource: string): StatusError {
  const message = `watch is not supported on resources of kind ${JSON.stringify(resource)}`
  return new StatusError('MethodNotAllowed', message, { details: { kind: resource } })
}

/** A name must be one segment of a path, even if more follows. */
function requireNameSegment(name: string): void {
  if (name.includes('/')) throw notFoundPath()
  const isStep = name !== '.' && name !== '..'
  if (isStep && !name.includes('%')) return
  const why = isStep ? "may not contain '%'" : `may not be '${name}'`
  throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: ${why}`)
}

function isServed({ info, reader }: ResourceCall): boolean {
  const { kind } = reader
  const { verb, subresource } = info
  if (subresource === '') {
    if (verb === 'create' && info.name !== '') return false
    if ((verb === 'update' || verb === 'patch') && info.name === '') return false
    return kind.verbs.includes(verb)
  }
  return kind.subresources.find(({ name }) => name === subresource)?.verbs.includes(verb) ?? false
}

function requireSubresource({ info, reader }: ResourceCall): Subresource {
  const found = reader.kind.subresources.find(({ name }) => name === info.subresource)
  if (found) return found
  throw reader.kind.isCustom ? notFound(reader.kind, info.name) : notFoundPath()
}

async function getAnswer(call: ResourceCall, deps: HandlerDeps): Promise<ApiAnswer> {
  const view = viewFor(call, deps)
  const resourceVersion = call.info.query.get('resourceVersion') ?? ''
  return objectAnswer(200, await getObject(scopeOf(call), resourceVersion, deps), view)
}

async function listed(call: ResourceCall, deps: HandlerDeps): Promise<ApiAnswer> {
  const view = viewFor(call, deps)
  const options = parseListOptions(call.info, call.reader.kind)
  return listAnswer(await listObjects(options, scopeOf(call), deps), view)
}

async function watched(call: ResourceCall, deps: HandlerDeps): Promise<ApiAnswer> {
  const view = viewFor(call, deps)
  const options = parseWatchOptions(call.info, call.reader.kind)
  return watchAnswer(options, view, scopeOf(call), deps)
}

async function created(call: ResourceCall, deps: HandlerDeps): Promise<ApiAnswer> {
  const view = viewFor(call, deps)
  const options = parseWriteOptions(call.info, call.request.headers['user-agent'])
  const scope = scopeOf(call, options)
  const object = await decodeBodyOf(call, options, deps)
  if (call.reader.kind.isNamespaced) requireNamespace(object, scope.namespace)
  return objectAnswer(201, await createObject(object, scope, deps), view)
}

async function updated(call: ResourceCall, deps: HandlerDeps): Promise<ApiAnswer> {
  const view = viewFor(call, deps)
  const options = parseWriteOptions(call.info, call.request.headers['user-agent'])
  const scope = scopeOf(call, options)
  const object = await decodeBodyOf(call, options, deps)
  requireNameOfPath(object, scope)
  const mayCreate =
    call.reader.kind.strategy.allowCreateOnUpdate === true && scope.subresource === ''
  const change = {
    next: async (current: typeof object | undefined) => {
      const next = cloneAsSent(object)
      await scope.pace?.pause()
      const steps = current
        ? changeSteps(next, current, scope, deps)
        : createSteps(next, scope, deps)
      await paced(steps, scope)
      return next
    },
    mayCreate,
    isDerived: false,
    attemptsMax: deps.limits.updateAttemptsMax,
  }
  const { cached, isCreated } = await changeObject(change, scope, deps)
  return objectAnswer(isCreated ? 201 : 200, cached, view)
}

async function deleted(call: ResourceCall, deps: HandlerDeps): Promise<ApiAnswer> {
  const view = viewFor(call, deps)
  const options = await deleteOptionsOf(call, deps)
  const scope = { ...scopeOf(call), isDryRun: options.isDryRun }
  if (await dropUnreadable(options, scope, deps)) return goneAnswer(undefined, call, view)
  const result = await deleteObject(options, scope, deps)
  const { reader } = call
  const isShown = !result.isGone || showsDeleted.has(reader.storage)
  const { cached, revision = cached.revision } = result
  if (!isShown) return goneAnswer(reader.parse(cached).metadata.uid, call, view)
  return objectAnswer(200, revision === cached.revision ? cached : cached.at(revision), view)
}

async function deleteOptionsOf(call: ResourceCall, deps: HandlerDeps): Promise<DeleteOptions> {
  const body = await readObjectBody(call, deleteOptionsSchema, deps)
  const options = await parseDeleteOptions(body, call.info.query, readYamlOf(call, deps))
  const { group, kind } = call.reader.kind
  if (group === 'batch' && kind === 'Job' && options.propagationPolicy === undefined) {
    call.warn(preservedPods)
  }
  return options
}

const preservedPods =
  'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning'

const deleteOptionsSchema = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions'

/** Kinds whose delete answers with the last state instead of a Status, by storage key. */
const showsDeleted: ReadonlySet<string> = new Set([
  'core/namespaces',
  'core/persistentvolumeclaims',
  'core/persistentvolumes',
  'core/pods',
  'core/podtemplates',
  'core/resourcequotas',
  'core/serviceaccounts',
  'core/services',
  'resource.k8s.io/deviceclasses',
  'resource.k8s.io/resourceclaims',
  'resource.k8s.io/resourceclaimtemplates',
  'resource.k8s.io/resourceslices',
  'storage.k8s.io/csidrivers',
  'storage.k8s.io/csinodes',
  'storage.k8s.io/storageclasses',
  'storage.k8s.io/volumeattachments',
  'storage.k8s.io/volumeattributesclasses',
])

function goneAnswer(
  uid: string | undefined,
  { reader, info }: ResourceCall,
  { representation }: View,
): Promise<ApiAnswer> {
  const { kind } = reader
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name: info.name,
      ...(kind.group === '' ? {} : { group: kind.group }),
      kind: kind.resource,
      ...(uid === undefined ? {} : { uid }),
    },
  }
  return valueAnswer(200, status, representation)
}

async function collectionDeleted(call: ResourceCall, deps: HandlerDeps): Promise<ApiAnswer> {
  const view = viewFor(call, deps)
  const { info, reader } = call
  const options = await deleteOptionsOf(call, deps)
  const scope = { ...scopeOf(call), isDryRun: options.isDryRun }
  const selection = parseSelection(info, reader.kind)
  return listAnswer(await deleteCollection(selection, options, scope, deps), view)
}
