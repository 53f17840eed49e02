/** Addresses of Kubernetes' objects, at the hub itself and at clusters behind it. Pure. */

export interface ResourceName {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  /** The plural: `pods`. */
  readonly resource: string
}

export interface ObjectName extends ResourceName {
  readonly namespace?: string
  readonly name: string
}

/** Returns where a cluster's API begins; without a cluster, the hub's own. */
export function apiBase(cluster: string | undefined): string {
  return cluster === undefined ? '' : `/clusters/${encodeURIComponent(cluster)}`
}

export function listPath(
  cluster: string | undefined,
  { group, version, resource }: ResourceName,
  namespace?: string,
): string {
  // The words may come from the address of a page, which anybody can write.
  const at = encodeURIComponent(version)
  const root = group === '' ? `/api/${at}` : `/apis/${encodeURIComponent(group)}/${at}`
  const within =
    namespace === undefined || namespace === ''
      ? ''
      : `/namespaces/${encodeURIComponent(namespace)}`
  return `${apiBase(cluster)}${root}${within}/${encodeURIComponent(resource)}`
}

export function objectPath(cluster: string | undefined, object: ObjectName): string {
  return `${listPath(cluster, object, object.namespace)}/${encodeURIComponent(object.name)}`
}

/** Returns the address of a page. In place of a cluster's name, `-` stands for the hub itself: no cluster has that name. */
export function objectPage(cluster: string | undefined, object: ObjectName): string {
  const { group, version, resource, namespace, name } = object
  const words = [cluster ?? '-', group || 'core', version, resource, namespace || '-', name]
  return `/objects/${words.map(encodeURIComponent).join('/')}`
}

/** Reads what `objectPage` wrote, from the decoded parameters of the page's path. */
export function readObjectPage(params: Readonly<Record<string, string | undefined>>): {
  cluster: string | undefined
  object: ObjectName
} {
  const { cluster = '-', group = 'core', version = '', resource = '', namespace = '-' } = params
  return {
    cluster: cluster === '-' ? undefined : cluster,
    object: {
      group: group === 'core' ? '' : group,
      version,
      resource,
      name: params.name ?? '',
      ...(namespace === '-' ? {} : { namespace }),
    },
  }
}
