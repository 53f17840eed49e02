import { StatusError, labelSelectorOf, type AnyObject } from '@skerry/api'
import type { AdmissionPlugin, AdmissionRequest, Authorizer } from '@skerry/apiserver'
import {
  clusterOfReporter,
  clusterResource,
  clusterAccessResource,
  type ClusterAccess,
} from '@skerry/fleet-kinds'
import type { ClusterGrants } from './cluster-grants.ts'

const masters = 'system:masters'

/**
 * Prevents users from granting access to clusters that they lack themselves. A user who writes a
 * ClusterAccess must hold clusters/proxy with its verbs for all clusters, because any cluster may get the
 * labels. A user who labels a Cluster so that a ClusterAccess newly covers it must hold it for that cluster.
 * The verb `bind` on that ClusterAccess suffices in both cases. An agent may label its own cluster, because
 * that only grants access to the agent itself.
 */
export function clusterAccessEscalation(
  grants: ClusterGrants,
  authorizer: Authorizer,
): AdmissionPlugin {
  return {
    name: 'ClusterAccessEscalation',
    handles: ({ operation, resource, user }) =>
      (operation === 'CREATE' || operation === 'UPDATE') &&
      (isResource(resource, clusterAccessResource) || isResource(resource, clusterResource)) &&
      !user.groups.includes(masters) &&
      clusterOfReporter(user) === undefined,
    async validate(request) {
      const { object, oldObject, resource } = request
      if (!object) return
      if (isResource(resource, clusterAccessResource)) {
        if (oldObject && isSameSpec(object, oldObject)) return
        const access = object.metadata.name ?? request.name
        const wanted = { ...specOf(object), cluster: '', access }
        const missing = await missingVerbs(request, authorizer, wanted)
        if (missing.length > 0) throw refused(request, access, missing, 'every cluster')
        return
      }
      await checkLabels(request, object, grants, authorizer)
    },
  }
}

async function checkLabels(
  request: AdmissionRequest,
  object: AnyObject,
  grants: ClusterGrants,
  authorizer: Authorizer,
): Promise<void> {
  const cluster = object.metadata.name ?? request.name
  const labels = object.metadata.labels ?? {}
  const { oldObject } = request
  const covering = grants
    .all()
    .filter(
      ({ selector }) =>
        selector.matches(labels) &&
        !(oldObject && selector.matches(oldObject.metadata.labels ?? {})),
    )
  for (const { name: access, verbs, serviceVerbs } of covering) {
    const wanted = { verbs, serviceVerbs, cluster, access }
    const missing = await missingVerbs(request, authorizer, wanted)
    if (missing.length === 0) continue
    throw refused(
      request,
      cluster,
      missing,
      `cluster "${cluster}", to which ClusterAccess "${access}" would lead`,
    )
  }
}

interface GrantedVerbs {
  readonly verbs: readonly string[]
  readonly serviceVerbs: readonly string[]
}

interface Missing {
  readonly subresource: 'proxy' | 'services'
  readonly verb: string
}

async function missingVerbs(
  { user }: AdmissionRequest,
  authorizer: Authorizer,
  wanted: GrantedVerbs & { cluster: string; access: string },
): Promise<Missing[]> {
  const isAllowed = async (question: object): Promise<boolean> => {
    const common = { user, isResourceRequest: true, namespace: '', path: '' }
    const { verdict } = await authorizer.authorize({ ...common, verb: '', ...question })
    return verdict === 'allow'
  }
  const bind = { verb: 'bind', resource: clusterAccessResource, name: wanted.access }
  if (await isAllowed(bind)) return []
  const asked: Missing[] = [
    ...wanted.verbs.map((verb) => ({ verb, subresource: 'proxy' }) as const),
    ...wanted.serviceVerbs.map((verb) => ({ verb, subresource: 'services' }) as const),
  ]
  const missing: Missing[] = []
  for (const each of asked) {
    const question = { ...each, resource: clusterResource, name: wanted.cluster }
    if (!(await isAllowed(question))) missing.push(each)
  }
  return missing
}

function refused(
  { resource, user }: AdmissionRequest,
  name: string,
  missing: readonly Missing[],
  where: string,
): StatusError {
  const { group, resource: kind } = resource
  const what = missing[0]?.subresource ?? 'proxy'
  const rights = missing
    .filter(({ subresource }) => subresource === what)
    .map(({ verb }) => JSON.stringify(verb))
    .join(', ')
  const message = `${kind}.${group} ${JSON.stringify(name)} is forbidden: user ${JSON.stringify(user.name)} is attempting to grant clusters/${what} permissions not currently held: ${rights} on ${where}`
  return new StatusError('Forbidden', message, { details: { name, group, kind } })
}

function isResource(
  { group, resource }: { group: string; resource: string },
  wanted: { group: string; resource: string },
): boolean {
  return group === wanted.group && resource === wanted.resource
}

function isSameSpec(next: AnyObject, old: AnyObject): boolean {
  return JSON.stringify(next['spec']) === JSON.stringify(old['spec'])
}

/** The object is decoded and defaulted as this kind, but not validated yet. */
function specOf(object: AnyObject): GrantedVerbs {
  const { spec } = object as unknown as Partial<ClusterAccess>
  // A bad selector is refused here already: nothing may be judged by it.
  labelSelectorOf(spec?.clusterSelector)
  return { verbs: spec?.verbs ?? [], serviceVerbs: spec?.serviceVerbs ?? [] }
}
