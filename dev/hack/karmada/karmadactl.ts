import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ClusterOnHosts } from '../../e2e/cluster-on-hosts.ts'
import { RoleProcess } from '../../e2e/role-process.ts'
import { waitFor } from '../../e2e/wait-for.ts'
import { buildUpstream } from '../upstream/build-upstream.ts'
import { buildKarmada } from '../upstream/karmada-build.ts'
import { connectAgent, startCloudHub, type CloudHub } from './cloud-hub.ts'
import { createTranscript, type Transcript } from './transcript.ts'

const name = 'shop-7'
const siteHostNumber = 1
const cloudHostNumber = 3

interface Stage {
  readonly cluster: ClusterOnHosts
  /** Our agent of the site. */
  readonly agent: RoleProcess
  readonly hub: CloudHub
  readonly transcript: Transcript
  /** Runs `karmadactl <line>` as the hub's administrator. */
  readonly ask: (line: string, expected: RegExp, more?: More) => Promise<string>
  /** Waits until an answer is as expected, without printing. */
  readonly until: (line: string, expected: RegExp) => Promise<void>
}

interface More {
  readonly exitCode?: number
  /** The content of the file that replaces `$FILE`. */
  readonly file?: string
}

/** Plays karmadactl's verbs against our hub, and a site with a node behind it that accepts no connection. */
export async function playKarmadactl(): Promise<void> {
  await onStage([
    reads,
    reachesPods,
    keepsClusters,
    propagates,
    interprets,
    leaves,
    joins,
    registers,
  ])
}

/** Plays Karmada's own agent, which registers with our hub and pulls from it. */
export async function playKarmadaAgent(): Promise<void> {
  await onStage([leaves, registers])
}

async function onStage(acts: readonly ((stage: Stage) => Promise<void>)[]): Promise<void> {
  await buildUpstream(['kubectl'])
  await buildKarmada(['karmadactl', 'karmada-agent'])
  await using cluster = await ClusterOnHosts.start()
  await cluster.addNode(siteHostNumber)
  const stage = await setStage(cluster)
  for (const act of acts) await act(stage)
}

async function setStage(cluster: ClusterOnHosts): Promise<Stage> {
  const { directory, siteHost } = cluster
  const host = await cluster.host(cloudHostNumber)
  const hub = await startCloudHub(host, directory, ['--push'])
  const { kubeconfig } = cluster
  const agent = await connectAgent(hub, {
    name,
    host: siteHost,
    kubeconfig,
    directory,
    appliesWorks: true,
  })
  const program = join(await buildKarmada(['karmadactl']), 'karmadactl')
  const paths = new Map([
    ['$FILE', join(directory, 'given.yaml')],
    ['$SITE', await kubeconfigFromOutside(cluster)],
  ])
  const commandOf = (line: string): string[] => {
    const [given = '', inside] = line.split(' -- ')
    const args = given.split(' ').map((arg) => paths.get(arg) ?? arg)
    const rest = inside === undefined ? [] : ['--', ...inside.split(' ')]
    return [program, ...args, '--kubeconfig', hub.adminKubeconfig, ...rest]
  }
  const transcript = createTranscript(host, { HOME: directory })
  return {
    cluster,
    agent,
    hub,
    transcript,
    async ask(line, expected, { exitCode, file: text } = {}) {
      if (text !== undefined) await writeFile(paths.get('$FILE') ?? '', text)
      return transcript.run({
        shown: `karmadactl ${line}`,
        command: commandOf(line),
        expected,
        ...(exitCode === undefined ? {} : { exitCode }),
      })
    },
    async until(line, expected) {
      await waitFor(line, async () => {
        const { stdout, stderr } = await host.run(commandOf(line), { env: { HOME: directory } })
        if (expected.test(stdout)) return true
        throw new Error(`${stdout}${stderr}`)
      })
    },
  }
}

/** The site's own one names its loopback. */
async function kubeconfigFromOutside({ directory, kubeconfig, siteHost }: ClusterOnHosts) {
  const text = await readFile(kubeconfig, 'utf8')
  const path = join(directory, 'site-from-outside.kubeconfig')
  const address = text.replace(/127\.0\.0\.1|localhost/, siteHost.address)
  await writeFile(path, address, { mode: 0o600 })
  return path
}

async function reads({ transcript, ask }: Stage): Promise<void> {
  transcript.say('objects on the hub and at the site')
  await ask('get clusters', /shop-7 +Karmada +\S+ +Pull +True/)
  await ask('get clusters -o wide', /APIENDPOINT/)
  await ask('get nodes --operation-scope members', /shop-7 +Ready/)
  await ask('get namespaces --operation-scope all', /karmada-cluster[^]*default +shop-7/)
  await ask(`describe cluster ${name}`, /Kind: +Cluster/)
  await ask(`api-resources --operation-scope members --cluster ${name}`, /deployments/)
  await ask('api-resources --api-group policy.karmada.io', /propagationpolicies +pp/)
  await ask('explain propagationpolicy.spec.placement', /clusterAffinity/)
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

async function reachesPods({ cluster, transcript, ask, until }: Stage): Promise<void> {
  transcript.say('the pods of a site')
  const file = join(cluster.directory, 'beacon.yaml')
  await writeFile(file, beacon)
  console.log(await cluster.kubectl('apply', '-f', file))
  await until('get pod beacon --operation-scope members', /1\/1 +Running/)
  await ask(`get pods --operation-scope members --clusters ${name}`, /beacon +shop-7 +1\/1/)
  await ask(`logs beacon -C ${name} --tail 1`, /^flash \d+$/m)
  const inside = '-- cat /etc/hostname'
  await ask(`exec beacon --operation-scope members --cluster ${name} ${inside}`, /^beacon/)
  await ask(`describe pod beacon --operation-scope members --cluster ${name}`, /Name: +beacon/)
  await until(`top pods -C ${name}`, /beacon/)
  await ask(`top pods -C ${name}`, /beacon +shop-7 +\d+m/)
  await ask(`top nodes --clusters ${name}`, /shop-7 +\d+m/)
}

async function keepsClusters({ transcript, ask }: Stage): Promise<void> {
  transcript.say('a cluster is taken out, and comes back')
  await ask(`cordon ${name}`, /cordoned/)
  await ask(`get cluster ${name} -o jsonpath={.spec.taints[*].key}`, /unschedulable/)
  await ask(`uncordon ${name}`, /uncordoned/)
  await ask(`taint clusters ${name} floor=wet:NoSchedule`, /tainted/)
  await ask(`taint clusters ${name} floor:NoSchedule-`, /untainted/)
  await ask(`label cluster ${name} city=hull`, /labeled/)
  await ask(`annotate cluster ${name} note=old`, /annotated/)
}

const settings = `apiVersion: v1
kind: ConfigMap
metadata: { name: settings, namespace: default }
data: { colour: green }
`

async function propagates({ cluster, transcript, ask, until }: Stage): Promise<void> {
  transcript.say('objects go to the site, and existing ones come to the hub')
  await ask(
    'apply -f $FILE --all-clusters',
    /(?=[^]*propagationpolicy\S* created)[^]*configmap\S* created/,
    {
      file: settings,
    },
  )
  await until(`get cm settings --operation-scope members --clusters ${name}`, /shop-7 +1 .*Y/)
  await ask('get cm settings --operation-scope all', /Karmada[^]*shop-7 +1 .*Y/)
  await ask('get rb', /settings-configmap .*True +True/)
  await ask('patch cm settings --type merge -p {"data":{"size":"9"}}', /patched/)
  await until(`get cm settings --operation-scope members --clusters ${name}`, /shop-7 +2/)
  console.log(await cluster.kubectl('create', 'configmap', 'legacy', '--from-literal=a=b'))
  await ask(`promote configmap legacy -C ${name} -n default`, /is promoted successfully/)
  await until(`get cm legacy --operation-scope members --clusters ${name}`, /shop-7 .*Y/)
  await ask('delete cm settings', /deleted/)
  await until(`get cm --operation-scope members --clusters ${name}`, /^(?!.*settings)[^]*legacy/)
}

const customization = `apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: { name: rocks }
spec:
  target: { apiVersion: example.com/v1, kind: Rock }
  customizations:
    healthInterpretation:
      luaScript: |
        function InterpretHealth(rock) return rock.status.hard == true end
`

async function interprets({ transcript, ask }: Stage): Promise<void> {
  transcript.say('a kind is taught')
  await ask('interpret -f $FILE --check', /InterpretHealth: +PASS/, { file: customization })
  await ask('create -f $FILE', /resourceinterpretercustomization\S*\/rocks created/, {
    file: customization,
  })
  await ask('get ric', /rocks +Karmada +example\.com\/v1 +Rock/)
}

async function leaves({ agent, ask }: Stage): Promise<void> {
  await agent.stop()
  await ask(`delete cluster ${name}`, /deleted/)
}

const prices = settings.replace('settings', 'prices')

async function joins({ cluster, transcript, ask, until }: Stage): Promise<void> {
  transcript.say('the site joins in push mode: the hub dials it')
  const where = '--cluster-kubeconfig $SITE --cluster-context site'
  await ask(`join shop-9 ${where}`, /cluster\(shop-9\) is joined successfully/)
  await until('get clusters', /shop-9 +Karmada +\S+ +Push +True/)
  await ask('get clusters', /shop-9 +Karmada +\S+ +Push +True/)
  await ask('get pods --operation-scope members --clusters shop-9', /beacon +shop-9 +1\/1/)
  await ask('logs beacon -C shop-9 --tail 1', /^flash \d+$/m)
  const inside = '-- cat /etc/hostname'
  await ask(`exec beacon --operation-scope members --cluster shop-9 ${inside}`, /^beacon/)
  await ask('top pods -C shop-9', /beacon +shop-9 +\d+m/)
  await ask('apply -f $FILE --all-clusters', /configmap\S* created/, { file: prices })
  await until('get cm prices --operation-scope members --clusters shop-9', /shop-9 +1 .*Y/)
  await until('get works -n karmada-es-shop-9', /prices-\S+ +Karmada +ConfigMap +True/)
  await ask('get cm prices --operation-scope all', /Karmada[^]*shop-9 +1 .*Y/)
  await ask('delete cm prices', /deleted/)
  await until('get cm --operation-scope members --clusters shop-9', /^(?!.*prices)[^]*legacy/)
  await ask(`unjoin shop-9 ${where}`, /^/)
  await until('get secrets -n karmada-cluster', /^(?![^]*shop-9)/)
  await ask('get ns', /^(?![^]*karmada-es-shop-9)/)
  const left = ['get', 'ns,clusterroles,clusterrolebindings', '-o', 'name']
  await waitFor('the site to be as it was', async () => {
    const names = await cluster.kubectl(...left)
    return /karmada|skerry-hub/.test(names) ? undefined : true
  })
}

/** With karmadactl's protocol the site gets a second agent, Karmada's own, under another name. */
async function registers({ cluster, hub, transcript, ask, until }: Stage): Promise<void> {
  transcript.say("the site comes back with Karmada's own agent")
  const printed = await ask('token create --print-register-command', /karmadactl register \S+:\d+/)
  await ask('token list', /default-cluster-token/)
  const [, token = '', hash = ''] =
    /--token (\S+) --discovery-token-ca-cert-hash (\S+)/.exec(printed) ?? []
  // It prints the address of the kubeconfig, which is the hub's own loopback here.
  const endpoint = new URL(hub.server).host
  const kubeconfig = join(cluster.directory, 'site-for-karmada.kubeconfig')
  await copyFile(cluster.kubeconfig, kubeconfig)
  const command = [
    join(await buildKarmada(['karmadactl']), 'karmadactl'),
    'register',
    endpoint,
    `--token=${token}`,
    `--discovery-token-ca-cert-hash=${hash}`,
    '--cluster-name=shop-8',
    `--kubeconfig=${kubeconfig}`,
    // The program itself runs because its image does not exist here.
    '--discovery-timeout=15s',
  ]
  const result = await cluster.siteHost.run(command, {
    env: { HOME: cluster.directory },
    timeoutMs: 60_000,
  })
  console.log(`$ karmadactl register … --cluster-name shop-8\n${result.stdout}`)
  if (!result.stdout.includes('Waiting karmada-agent Deployment')) throw new Error(result.stderr)
  await runKarmadaAgent(cluster, 'shop-8')
  await until('get clusters', /shop-8 +Karmada +\S+ +Pull +True/)
  await ask('get clusters', /shop-8 +Karmada +\S+ +Pull +True/)
  await ask('apply -f $FILE --all-clusters', /configmap\S* created/, { file: settings })
  await until('get works -n karmada-es-shop-8', /settings-\S+ +Karmada +ConfigMap +True/)
  await ask('get works -n karmada-es-shop-8', /settings-\S+ +Karmada +ConfigMap +True/)
  await waitFor('the ConfigMap at the site', () => cluster.kubectl('get', 'configmap', 'settings'))
  console.log(await cluster.kubectl('get', 'configmap', 'settings'))
  console.log(await hub.skerry('cluster', 'list'))
}

/** Runs what the Deployment at the site would run, with its Secret's content. */
async function runKarmadaAgent(cluster: ClusterOnHosts, clusterName: string): Promise<void> {
  const secret = ['get', 'secret', 'karmada-kubeconfig', '-n', 'karmada-system']
  const text = await cluster.kubectl(...secret, '-o', 'jsonpath={.data.karmada-kubeconfig}')
  const kubeconfig = join(cluster.directory, 'karmada-agent.kubeconfig')
  await writeFile(kubeconfig, Buffer.from(text, 'base64'), { mode: 0o600 })
  const program = new RoleProcess({
    host: cluster.siteHost,
    name: 'karmada-agent',
    command: [
      'env',
      `KUBECONFIG=${cluster.kubeconfig}`,
      join(await buildKarmada(['karmada-agent']), 'karmada-agent'),
      `--karmada-kubeconfig=${kubeconfig}`,
      `--cluster-name=${clusterName}`,
      '--cluster-api-endpoint=https://127.0.0.1:6443',
      '--metrics-bind-address=0',
    ],
    logFile: join(cluster.directory, 'karmada-agent.log'),
  })
  await program.start()
  cluster.roles.push(program)
}
