import type { EdgeHub } from './edge-hub.ts'

/** Returns the EdgeCluster branch-7, with its namespace and the Secret `login` of its machines, for `kubectl apply`. */
export function edgeManifest(
  { server }: Pick<EdgeHub, 'server'>,
  login: Readonly<Record<string, string>>,
  spec: object,
): string {
  const namespace = 'edges'
  const objects = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'login', namespace }, stringData: login },
    {
      apiVersion: 'hub.skerry.io/v1alpha1',
      kind: 'EdgeCluster',
      metadata: { name: 'branch-7', namespace },
      spec: { hubServer: server, ...spec },
    },
  ]
  return objects.map((each) => JSON.stringify(each)).join('\n---\n')
}
