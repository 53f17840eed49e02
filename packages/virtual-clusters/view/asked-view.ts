import { isStatusError, parseFieldSelector, printFieldSelector, StatusError } from '@skerry/api'
import type { RequestInfo, YamlReader } from '@skerry/apiserver'
import type { DiscoveredResource } from '@skerry/client'
import type { TunnelRequest } from '@skerry/tunnel'
import { MappingRefusal } from '@skerry/cluster-agent'
import type { VirtualGroup } from '@skerry/fleet-kinds'
import type { Mapping } from '../mapping/mapping.ts'
import type { AnswerRoom } from './answer-room.ts'
import type { Ask } from './edge-calls.ts'
import type { EdgeKinds } from './edge-kinds.ts'
import type { EdgeNames } from './edge-names.ts'
import { isOfNodeLeases } from './own-objects.ts'
import type { PageTokens } from './page-token.ts'
import { seenAsOf, type SeenAs } from './seen-kinds-table.ts'
import type { Sight } from './shown-answer.ts'
import type { ShownNames } from './shown-object.ts'

/** One virtual cluster, and how to reach its edge. */
export interface View {
  readonly group: VirtualGroup
  readonly mapping: Pick<Mapping, 'toMember'>
  readonly edge: EdgeNames
  readonly kinds: EdgeKinds
  readonly pages: PageTokens
  readonly room: AnswerRoom
  readonly yaml: YamlReader
  /** Asks as the requesting user. */
  readonly asUser: Ask
  /** Asks with the agent's own rights, after the edge's RBAC has allowed the user. */
  readonly asAgent: Ask
}

/** One parsed request for objects of a virtual cluster. */
export interface Asked {
  readonly view: View
  readonly request: TunnelRequest
  readonly info: RequestInfo
  readonly kind: DiscoveredResource
  /** Undefined for kinds that have a namespace. */
  readonly seenAs: SeenAs | undefined
  /** The edge's name of the namespace that the path names; empty where it names none. */
  readonly member: string
  readonly names: ShownNames
  readonly signal: AbortSignal
}

/**
 * Throws StatusError NotFound of a namespace that the virtual cluster cannot have, or that is the edge
 * cluster's own or another's.
 */
export async function askedOf(
  given: Pick<Asked, 'view' | 'request' | 'info' | 'kind'>,
  signal: AbortSignal,
): Promise<Asked> {
  const { view, info, kind } = given
  const { clusterName } = view.group
  const { namespace } = info
  const member = namespace === '' ? '' : await memberFor(view, info, signal)
  const names: ShownNames = {
    clusterName,
    namespace(name) {
      if (name === member) return namespace
      const owner = view.edge.ownerOf(name)
      return owner?.cluster === clusterName ? owner.namespace : undefined
    },
  }
  return { ...given, member, names, signal, seenAs: kind.isNamespaced ? undefined : seenAsOf(kind) }
}

/** The edge's name of the namespace that is asked for, which may be none yet. */
async function memberFor(view: View, info: RequestInfo, signal: AbortSignal): Promise<string> {
  const { namespace, verb, name } = info
  if (isOfNodeLeases(info)) return namespace
  try {
    const member = memberOf(view, namespace)
    const owner = await view.edge.findOwner(member, signal)
    // The edge reports a namespace that does not exist; this virtual cluster may create it.
    if (owner === undefined || owner.cluster === view.group.clusterName) return member
    throw noNamespace(namespace)
  } catch (error) {
    const isSearch = name === '' && (verb === 'list' || verb === 'watch')
    // An API server answers a search in a missing namespace with an empty result, not with NotFound.
    if (isSearch && isStatusError(error, 'NotFound')) return `none-${namespace}`
    throw error
  }
}

/** Throws StatusError NotFound of a namespace that no virtual cluster has. */
export function memberOf({ group }: Pick<View, 'group'>, namespace: string): string {
  try {
    return group.namespaces.toMember(namespace)
  } catch (error) {
    if (!(error instanceof RangeError) && !(error instanceof MappingRefusal)) throw error
    throw noNamespace(namespace)
  }
}

/** The same, for questions: what no virtual cluster has, no answer names. */
function memberOrSame(view: View, namespace: string): string {
  try {
    return memberOf(view, namespace)
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return namespace
    throw error
  }
}

/** Uses the words of an API server that has no such namespace. */
export function noNamespace(name: string): StatusError {
  const details = { name, kind: 'namespaces' }
  return new StatusError('NotFound', `namespaces "${name}" not found`, { details })
}

export function absentObject({ resource, name }: RequestInfo): StatusError {
  const { group, resource: plural } = resource
  const what = group === '' ? plural : `${plural}.${group}`
  const details = { name, kind: plural, ...(group === '' ? {} : { group }) }
  return new StatusError('NotFound', `${what} "${name}" not found`, { details })
}

export function readOnly({ resource, name }: RequestInfo, cluster: string): StatusError {
  const what = resource.group === '' ? resource.resource : `${resource.resource}.${resource.group}`
  const text = `${what} "${name}" is forbidden: objects of this kind are the edge cluster's, and are read only in virtual cluster "${cluster}"`
  return new StatusError('Forbidden', text, {
    details: { name, kind: resource.resource, group: resource.group },
  })
}

export function sightOf(
  { info, kind, names, request, view }: Asked,
  isVisible: Sight['isVisible'],
): Sight {
  return {
    names,
    of: { group: info.resource.group, kind: kind.kind },
    isVisible,
    pageToken: (token) => view.pages.seal(token, view.group.clusterName),
    hidesRowObjects:
      info.query.get('includeObject') === 'None' && /as=Table/.test(acceptOf(request)),
    absent: () => absentObject(info),
    isOne: info.name !== '',
  }
}

function acceptOf({ headers }: TunnelRequest): string {
  return String(headers['accept'] ?? '')
}

/** Maps a field selector, which can name namespaces, too: for events, that of their subject. */
export function memberFieldSelector(text: string, view: View, isNamespaces: boolean): string {
  const requirements = parseFieldSelector(text).map((each) => {
    const isNamed =
      each.field === 'namespace' ||
      each.field.endsWith('.namespace') ||
      (isNamespaces && each.field === 'metadata.name')
    return isNamed && each.value !== '' ? { ...each, value: memberOrSame(view, each.value) } : each
  })
  return printFieldSelector(requirements)
}
