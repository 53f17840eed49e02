/** A pod that may read and make ConfigMaps, and look into itself, and asks where its variables lead. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestHost } from '@skerry/testing'
import type { ClusterOnHosts } from './cluster-on-hosts.ts'

/** The process of the pod is found by this number of seconds. */
const seconds = String(1_000_000 + process.pid)

export const settingsReader = `
apiVersion: v1
kind: ConfigMap
metadata: { name: settings, namespace: default }
data: { color: blue }
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: reader, namespace: default }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: reader, namespace: default }
rules:
  - { apiGroups: [''], resources: [configmaps], resourceNames: [settings], verbs: [get] }
  - { apiGroups: [''], resources: [configmaps], verbs: [list, watch, create, get] }
  - { apiGroups: [''], resources: [pods, pods/log], verbs: [get] }
  - { apiGroups: [''], resources: [pods/exec, serviceaccounts/token], verbs: [get, create] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: reader, namespace: default }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader }
subjects: [{ kind: ServiceAccount, name: reader, namespace: default }]
---
apiVersion: node.skerry.io/v1alpha1
kind: OfflineWrites
metadata: { name: reader }
spec:
  resources: [{ resource: configmaps }]
  namespaces: [default]
  serviceAccounts: [{ namespace: default, name: reader }]
---
apiVersion: v1
kind: Pod
metadata: { name: reader, namespace: default }
spec:
  serviceAccountName: reader
  terminationGracePeriodSeconds: 0
  containers:
    - name: reader
      image: 'skerry-examples/guestbook:v1'
      command: [sh, -c, 'echo reader is here; exec sleep ${seconds}']
`

/** The last character is in brackets, so that the search does not find itself. */
const findReader = `grep -lsa '${seconds.slice(0, -1)}[${seconds.slice(-1)}]' /proc/[0-9]*/cmdline`

const maps = '/api/v1/namespaces/default/configmaps'

/** Returns the color in the pod's settings, or undefined if the pod does not run or gets no answer. */
export async function readsSettings(
  cluster: ClusterOnHosts,
  host: TestHost,
): Promise<string | undefined> {
  const text = await asPod(cluster, host, ['get', '--raw', `${maps}/settings`])
  // The answer of a get is a ConfigMap.
  return text === undefined
    ? undefined
    : (JSON.parse(text) as { data: { color: string } }).data.color
}

/** Lets the pod list all ConfigMaps. Returns the answer, or undefined if there is none. */
export function listsSettings(
  cluster: ClusterOnHosts,
  host: TestHost,
): Promise<string | undefined> {
  return asPod(cluster, host, ['get', '--raw', maps])
}

/** Lets the pod make a ConfigMap. Returns the answer, or undefined if there is none. */
export async function makesSettings(
  cluster: ClusterOnHosts,
  host: TestHost,
  name: string,
): Promise<string | undefined> {
  const file = join(cluster.directory, 'made-by-reader.json')
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { made: 'away' } }
  await writeFile(file, JSON.stringify(map))
  return asPod(cluster, host, ['create', '--raw', maps, '-f', file])
}

/** Runs kubectl in the pod's network, with the pod's token or another one. Returns what it prints, if it succeeds. */
export async function asPod(
  cluster: ClusterOnHosts,
  host: TestHost,
  asked: readonly string[],
  shown?: string,
): Promise<string | undefined> {
  const found = await host.run(['sh', '-c', `exec ${findReader}`])
  const [pid] = /\d+/.exec(found.stdout) ?? []
  if (pid === undefined) return undefined
  const inPod = async (...command: string[]): Promise<string> =>
    (await host.run(['nsenter', '-t', pid, '-m', '-n', '--', ...command])).stdout
  const account = '/var/run/secrets/kubernetes.io/serviceaccount'
  const token = shown ?? (await inPod('/bin/cat', `${account}/token`))
  const authority = join(cluster.directory, 'reader-ca.crt')
  await writeFile(authority, await inPod('/bin/cat', `${account}/ca.crt`))
  const variables = await host.run(['cat', `/proc/${pid}/environ`])
  const variable = (name: string): string =>
    new RegExp(`(?:^|\0)${name}=([^\0]*)`).exec(variables.stdout)?.[1] ?? ''
  const server = `https://${variable('KUBERNETES_SERVICE_HOST')}:${variable('KUBERNETES_SERVICE_PORT')}`
  const [kubectl = ''] = cluster.kubectlCommand([])
  const options = ['--server', server, '--certificate-authority', authority, '--token', token]
  const { stdout, exitCode } = await host.run(
    ['nsenter', '-t', pid, '-n', '--', kubectl, ...options, ...asked],
    { env: { HOME: cluster.directory, KUBECONFIG: '/dev/null' }, timeoutMs: 20_000 },
  )
  return exitCode === 0 ? stdout : undefined
}
