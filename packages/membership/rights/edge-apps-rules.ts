import type { PolicyRule } from './impersonation-policy.ts'

const read = ['get', 'list', 'watch']
const write = [...read, 'create', 'update', 'patch', 'delete']

/** The API groups of each system's kinds, and the objects that its applications make. */
const systems: Readonly<Record<string, readonly PolicyRule[]>> = Object.freeze({
  superedge: [own('superedge.io'), own('site.superedge.io'), rule('apps', workloads()), services()],
  kubeedge: [
    own('apps.kubeedge.io'),
    rule('apps', [...workloads(), 'daemonsets']),
    rule('', ['services', 'configmaps', 'secrets', 'serviceaccounts', 'persistentvolumeclaims']),
    rule('batch', ['jobs', 'cronjobs']),
    rule('networking.k8s.io', ['ingresses', 'networkpolicies']),
    rule('autoscaling', ['horizontalpodautoscalers']),
    rule('policy', ['poddisruptionbudgets']),
  ],
  openyurt: [own('apps.openyurt.io'), rule('apps', [...workloads(), 'controllerrevisions'])],
})

/**
 * Returns the rights that an agent needs in its cluster to serve applications of these systems. It defines their kinds and
 * the roles for them; it cannot give a right that it lacks.
 */
export function edgeAppsRules(names: readonly string[], clusterName: string): PolicyRule[] {
  if (names.length === 0) return []
  const leases = { apiGroups: ['coordination.k8s.io'], resources: ['leases'] }
  return [
    rule('apiextensions.k8s.io', ['customresourcedefinitions']),
    rule('rbac.authorization.k8s.io', ['clusterroles']),
    // Annotated services get fields that keep their traffic near.
    { apiGroups: [''], resources: ['nodes', 'services'], verbs: [...read, 'patch'] },
    { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
    { ...leases, verbs: ['create'] },
    {
      ...leases,
      resourceNames: [`karmada-agent-${clusterName}`],
      verbs: ['get', 'update', 'patch'],
    },
    ...names.flatMap((name) => systems[name] ?? []),
  ]
}

/** Subresources included: owners' finalizers are written with each child. */
function own(group: string): PolicyRule {
  return { apiGroups: [group], resources: ['*'], verbs: [...write, 'deletecollection'] }
}

function rule(group: string, resources: readonly string[]): PolicyRule {
  return { apiGroups: [group], resources: [...resources], verbs: write }
}

function workloads(): string[] {
  return ['deployments', 'statefulsets']
}

function services(): PolicyRule {
  return rule('', ['services'])
}
