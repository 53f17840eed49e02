import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ClusterOnHosts } from '../../e2e/cluster-on-hosts.ts'
import { RoleProcess } from '../../e2e/role-process.ts'
import { waitFor } from '../../e2e/wait-for.ts'
import { buildUpstream } from '../upstream/build-upstream.ts'
import { buildKarmada } from '../upstream/karmada-build.ts'
import {
  connectAgent,
  startCloudHub,
  startScript,
  untilConnected,
  type CloudHub,
} from './cloud-hub.ts'
import { createTranscript, type Transcript } from './transcript.ts'

const name = 'shop-7'
/** A group of its nodes. */
const hall = `${name}-hall`
const siteHostNumber = 1
const cloudHostNumber = 3

interface Stage {
  readonly cluster: ClusterOnHosts
  readonly hub: CloudHub
  readonly transcript: Transcript
  /** The path of Karmada's kubeconfig with an address that the site can reach. */
  readonly karmada: string
  /** Runs `kubectl` or `karmadactl` with Karmada's kubeconfig. */
  readonly ask: (line: string, expected: RegExp, more?: More) => Promise<string>
  /** Repeats a command without printing until its answer is as expected. */
  readonly until: (line: string, expected: RegExp) => Promise<void>
}

interface More {
  readonly input?: string
  readonly exitCode?: number
}

/** Plays Karmada's own proxy and push mode against a site that accepts no connection, through our hub. */
export async function playKarmadaProxy(): Promise<void> {
  await buildUpstream(['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl'])
  await buildKarmada()
  await using cluster = await ClusterOnHosts.start()
  await cluster.addNode(siteHostNumber)
  const stage = await setStage(cluster)
  await isClosed(stage)
  await isReached(stage)
  await namesUsers(stage)
  await heals(stage)
  await pulls(stage)
  await pushes(stage)
  await searches(stage)
  await showsGroup(stage)
  await isRevoked(stage)
}

async function setStage(cluster: ClusterOnHosts): Promise<Stage> {
  const { directory, siteHost } = cluster
  const host = await cluster.host(cloudHostNumber)
  const karmada = await startScript(host, {
    script: 'dev/hack/upstream/karmada.ts',
    args: ['start', '--search', '--bind-address', '0.0.0.0', '--data', join(directory, 'karmada')],
    logFile: join(directory, 'karmada.log'),
  })
  const hub = await startCloudHub(host, directory)
  await connectAgent(hub, {
    name,
    host: siteHost,
    kubeconfig: cluster.kubeconfig,
    directory,
    hasVirtualClusters: true,
  })
  const bins = {
    kubectl: join(await buildUpstream(['kubectl']), 'kubectl'),
    karmadactl: join(await buildKarmada(['karmadactl']), 'karmadactl'),
  }
  const commandOf = (line: string): string[] => {
    const [program, ...args] = line.split(' ')
    const path = program === 'karmadactl' ? bins.karmadactl : bins.kubectl
    const proxied = args.map((arg) =>
      arg
        .replace('$PROXY', proxyOf(karmadaUrl, name))
        .replace('$HALL', proxyOf(karmadaUrl, hall))
        .replace('$SEARCH', `${karmadaUrl}${searchPath}`),
    )
    const end = proxied.indexOf('--')
    const own = end < 0 ? proxied : proxied.slice(0, end)
    return [path, ...own, '--kubeconfig', karmada, ...(end < 0 ? [] : proxied.slice(end))]
  }
  const text = await readFile(karmada, 'utf8')
  const karmadaUrl = /server: "?([^"\n]+)/.exec(text)?.[1] ?? ''
  const fromSite = join(directory, 'karmada-from-site.kubeconfig')
  await writeFile(fromSite, seenFrom(host.address, text), { mode: 0o600 })
  const transcript = createTranscript(host, { HOME: directory })
  return {
    cluster,
    hub,
    transcript,
    karmada: fromSite,
    ask: (line, expected, { input, exitCode } = {}) =>
      transcript.run({
        shown: line,
        command: commandOf(line),
        expected,
        ...(exitCode === undefined ? {} : { exitCode }),
        ...(input === undefined ? {} : { options: { input } }),
      }),
    async until(line, expected) {
      await waitFor(line, async () => {
        const { stdout, stderr } = await host.run(commandOf(line), { env: { HOME: directory } })
        if (expected.test(stdout)) return true
        throw new Error(`${stdout}${stderr}`)
      })
    },
  }
}

/** Returns the kubeconfig for that address. Karmada's certificate names only loopback. */
function seenFrom(address: string, kubeconfig: string): string {
  return kubeconfig.replace(
    /^( *)server: (.*)127\.0\.0\.1(.*)$/m,
    `$1server: $2${address}$3\n$1tls-server-name: localhost`,
  )
}

/** The path to karmada-search's view of all clusters. */
const searchPath = '/apis/search.karmada.io/v1alpha1/proxying/karmada/proxy'

/** Returns Karmada's path to a cluster, as kubectl's server. */
function proxyOf(karmadaUrl: string, cluster: string): string {
  return `${karmadaUrl}/apis/cluster.karmada.io/v1alpha1/clusters/${cluster}/proxy`
}

async function isClosed({ cluster, transcript }: Stage): Promise<void> {
  transcript.say('the site takes no connection from outside')
  const closing = `nft add table inet closed
nft 'add chain inet closed input { type filter hook input priority 0; }'
nft add rule inet closed input iifname eth0 ct state new drop`
  const closed = await cluster.siteHost.run(['sh', '-ec', closing])
  if (closed.exitCode !== 0) throw new Error(`Cannot close the site: ${closed.stderr}`)
  const url = `https://${cluster.siteHost.address}:6443/version`
  await transcript.run({
    shown: `curl -k -m 2 ${url}`,
    command: ['curl', '-skS', '-m', '2', url],
    expected: /timed out/i,
    exitCode: 28,
  })
}

const beacon = `apiVersion: v1
kind: Pod
metadata: { name: beacon, namespace: default }
spec:
  terminationGracePeriodSeconds: 1
  containers:
    - name: beacon
      image: skerry-examples/guestbook:v1
      command: [sh, -c, 'n=0; while true; do echo flash $n; n=$((n+1)); sleep 1; done']
`

async function isReached({ hub, transcript, ask, until }: Stage): Promise<void> {
  transcript.say('the manifest of the hub, applied to Karmada')
  const manifest = await manifestFor(hub, 'Pull')
  await ask('kubectl apply -f -', /cluster\.cluster\.karmada\.io\/shop-7 created/, {
    input: manifest,
  })
  await ask('kubectl get cluster shop-7 -o wide', /shop-7 .*Pull/)
  transcript.say("Karmada's proxy, with kubectl and karmadactl")
  await ask('kubectl -s $PROXY get nodes', /Ready/)
  await ask('kubectl -s $PROXY apply -f -', /pod\/beacon created/, { input: beacon })
  await until('kubectl -s $PROXY get pod beacon', /1\/1 +Running/)
  await ask(
    'karmadactl get pods --operation-scope members --clusters shop-7',
    /beacon +shop-7 +1\/1/,
  )
  await ask('karmadactl logs beacon -C shop-7', /^flash 0$/m)
  await ask(
    'karmadactl exec beacon --operation-scope members --cluster shop-7 -- cat /etc/hostname',
    /^beacon/,
  )
  await ask(
    'karmadactl describe pod beacon --operation-scope members --cluster shop-7',
    /Name: +beacon/,
  )
  await ask('karmadactl api-resources --operation-scope members --cluster shop-7', /deployments/)
}

function manifestFor(
  hub: CloudHub,
  syncMode: 'Pull' | 'Push',
  cluster: string = name,
): Promise<string> {
  const command = ['cluster', 'karmada-manifest', cluster]
  return hub.skerry(...command, '--server', hub.server, '--sync-mode', syncMode)
}

/**
 * Shows users of Karmada, not of the hub: Karmada decides who reaches the site, and the site what they may do
 * there.
 */
async function namesUsers({ transcript, ask }: Stage): Promise<void> {
  transcript.say(
    "the site sees Karmada's user; Karmada decides who may go there, the site what for",
  )
  await ask(
    'kubectl create clusterrole shop-7-visitor --verb=* --resource=clusters.cluster.karmada.io/proxy --resource-name=shop-7',
    /created/,
  )
  await ask(
    'kubectl create clusterrolebinding anna --clusterrole=shop-7-visitor --user=anna',
    /created/,
  )
  await ask(
    'kubectl -s $PROXY auth whoami --as=anna --as-group=keepers',
    /Username +anna\nGroups +\[keepers/,
  )
  await ask('kubectl -s $PROXY get pods --as=anna', /User "anna" cannot list resource "pods"/, {
    exitCode: 1,
  })
  await ask('kubectl -s $PROXY create rolebinding anna --clusterrole=view --user=anna', /created/)
  await ask('kubectl -s $PROXY get pods --as=anna', /beacon/)
  await ask('kubectl -s $PROXY get pods --as=bert', /User "bert" cannot/, { exitCode: 1 })
}

async function heals({ cluster, transcript, ask, until }: Stage): Promise<void> {
  transcript.say('the cable is pulled, and plugged in')
  await cluster.siteHost.cut()
  await ask(
    'kubectl -s $PROXY get pod beacon --request-timeout=60s',
    /ServiceUnavailable|connect/i,
    {
      exitCode: 1,
    },
  )
  await cluster.siteHost.restore()
  await until('kubectl -s $PROXY get pod beacon', /1\/1 +Running/)
  await ask('kubectl -s $PROXY get pod beacon', /1\/1 +Running/)
}

const lamps = `apiVersion: apps/v1
kind: Deployment
metadata: { name: lamps, namespace: default }
spec:
  replicas: 2
  selector: { matchLabels: { app: lamps } }
  template:
    metadata: { labels: { app: lamps } }
    spec:
      terminationGracePeriodSeconds: 1
      containers:
        - name: lamp
          image: skerry-examples/guestbook:v1
          command: [sh, -c, 'while true; do sleep 1; done']
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: { name: lamps, namespace: default }
spec:
  resourceSelectors: [{ apiVersion: apps/v1, kind: Deployment, name: lamps }]
  placement: { clusterAffinity: { clusterNames: [shop-7] } }
`

/**
 * Shows that Karmada's own agent executes at the site, and that Karmada's requests to the site pass through
 * the hub.
 */
async function pulls({ cluster, hub, karmada, transcript, ask, until }: Stage): Promise<void> {
  transcript.say(
    "pull mode, with Karmada's own agent at the site, which gets the address of its API",
  )
  const endpoint = `${hub.server}/clusters/${name}`
  const flags = [
    `--cluster-name=${name}`,
    `--cluster-api-endpoint=${endpoint}`,
    '--report-secrets=None',
  ]
  const own = [
    '--leader-elect=false',
    '--metrics-bind-address=0',
    `--karmada-kubeconfig=${karmada}`,
  ]
  console.log(`$ karmada-agent ${flags.join(' ')} …`)
  const program = join(await buildKarmada(['karmada-agent']), 'karmada-agent')
  const agent = new RoleProcess({
    host: cluster.siteHost,
    name: 'karmada-agent',
    command: ['env', `KUBECONFIG=${cluster.kubeconfig}`, program, ...flags, ...own],
    logFile: join(cluster.directory, 'karmada-agent.log'),
  })
  await agent.start()
  await ask('kubectl wait cluster/shop-7 --for=condition=Ready --timeout=90s', /condition met/)
  await ask('kubectl get clusters', /shop-7 +\S+ +Pull +True/)
  await ask('kubectl apply -f -', /deployment\.apps\/lamps created/, { input: lamps })
  await until('kubectl get deployment lamps', /2\/2/)
  await ask('kubectl get deployment lamps', /2\/2/)
  await ask('karmadactl get pods --operation-scope members --clusters shop-7', /lamps-\S+ +shop-7/)
  await ask('kubectl delete deployment,propagationpolicy lamps', /deleted/)
  await until('karmadactl get deployments --operation-scope members --clusters shop-7', /^$/)
  await ask('kubectl delete cluster shop-7', /deleted/)
  await agent.stop()
}

async function pushes({ cluster, hub, transcript, ask, until }: Stage): Promise<void> {
  transcript.say(
    "push mode: Karmada's controllers work through the tunnel; nothing of Karmada at the site",
  )
  const account = `system:serviceaccount:karmada-cluster:karmada-${name}`
  const manifest = await manifestFor(hub, 'Push')
  await ask('kubectl apply -f -', /cluster\.cluster\.karmada\.io\/shop-7 created/, {
    input: manifest,
  })
  await ask(
    `kubectl -s $PROXY create clusterrolebinding karmada --clusterrole=cluster-admin --user=${account}`,
    /created/,
  )
  await ask('kubectl wait cluster/shop-7 --for=condition=Ready --timeout=90s', /condition met/)
  await ask('kubectl get clusters', /shop-7 +\S+ +Push +True/)
  await ask('kubectl apply -f -', /deployment\.apps\/lamps created/, { input: lamps })
  await until('kubectl get deployment lamps', /2\/2/)
  await ask('kubectl get deployment lamps', /2\/2/)
  await ask('kubectl get resourcebinding lamps-deployment', /True +True/)
  transcript.say('at the site itself')
  console.log(await cluster.kubectl('get', 'deployment', 'lamps'))
}

const registry = `apiVersion: search.karmada.io/v1alpha1
kind: ResourceRegistry
metadata: { name: pods }
spec:
  targetCluster: { clusterNames: [shop-7] }
  resourceSelectors: [{ apiVersion: v1, kind: Pod }]
`

/** Shows that karmada-search lists and watches the site's pods as Karmada itself, and answers for them. */
async function searches({ transcript, ask, until }: Stage): Promise<void> {
  transcript.say('one API over all clusters: karmada-search watches the site through the tunnel')
  await ask('kubectl apply -f -', /resourceregistry\S* created/, { input: registry })
  await until('kubectl -s $SEARCH get pods', /beacon/)
  await ask('kubectl -s $SEARCH get pods', /beacon[^]*lamps/)
  await ask(
    'kubectl -s $SEARCH get pod beacon -o jsonpath={.metadata.annotations}',
    /cached-from-cluster":"shop-7"/,
  )
  await ask('kubectl -s $SEARCH logs beacon --tail=1', /^flash \d+$/m)
}

const hallGroup = (node: string): string => `apiVersion: edge.skerry.io/v1alpha1
kind: VirtualCluster
metadata: { name: hall }
spec: { nodeNames: [${node}] }
`

/** A group of the site's nodes is a cluster to Karmada's proxy, too, and shows itself alone. */
async function showsGroup({ cluster, hub, transcript, ask, until }: Stage): Promise<void> {
  transcript.say('a virtual cluster by the same proxy: it has its own namespaces, and nothing else')
  const node = await cluster.kubectl('get', 'nodes', '-o', 'jsonpath={.items[0].metadata.name}')
  await cluster.apply(hallGroup(node))
  await untilConnected(hub, hall)
  await ask('kubectl apply -f -', /cluster\.cluster\.karmada\.io\/shop-7-hall created/, {
    input: await manifestFor(hub, 'Pull', hall),
  })
  await ask('kubectl -s $HALL get nodes', /Ready/)
  await ask('kubectl -s $HALL get pods -A', /No resources found/)
  await ask('kubectl -s $HALL create namespace stage', /created/)
  await ask('kubectl -s $HALL apply -n stage -f -', /pod\/beacon created/, {
    input: beacon.replace(', namespace: default', ''),
  })
  await until('kubectl -s $HALL get pod beacon -n stage', /1\/1 +Running/)
  await ask(
    'karmadactl get pods -n stage --operation-scope members --clusters shop-7-hall',
    /beacon/,
  )
  await ask('karmadactl logs beacon -n stage -C shop-7-hall', /^flash 0$/m)
  await ask('kubectl -s $HALL get namespaces', /^(?!.*kube-system)[^]*stage/)
  await ask('kubectl -s $PROXY get pods -A', /stage-shop-7-hall +beacon/)
}

async function isRevoked({ hub, transcript, ask }: Stage): Promise<void> {
  transcript.say('the way is closed again')
  console.log(await hub.skerry('cluster', 'karmada-manifest', name, '--revoke'))
  await ask('kubectl -s $PROXY get pods', /Unauthorized|credentials/i, { exitCode: 1 })
}
