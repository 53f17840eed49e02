import { execFileSync } from 'node:child_process'
import { get } from 'node:https'
import { get as getPlain } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AnyObject } from '@skerry/api'
import { freePort } from '../../processes/free-port.ts'
import { karmadaSource } from './karmada-build.ts'
import { writeKarmadaCredentials, type KarmadaCredentials } from './karmada-credentials.ts'
import {
  aggregatedServer,
  karmadaDefinitions,
  karmadaPolicy,
  type KarmadaObjectsOptions,
} from './karmada-objects.ts'
import { argumentsOf, programIn, runProgram } from './run-program.ts'
import { startUpstream, type RunningUpstream } from './run-upstream.ts'

export interface KarmadaOptions {
  /** The directory where buildUpstream put kube-apiserver, kube-controller-manager, etcd and kubectl. */
  readonly upstreamBin: string
  /** The directory where buildKarmada put its programs. */
  readonly bin: string
  /** The directory of keys, etcd's data and logs. An empty one gives an empty fleet. */
  readonly directory: string
  /** The API server's address, which must include loopback; the others listen on loopback only. */
  readonly bindAddress: string
  readonly withSearch?: boolean
  /** A program that takes etcd's flags, in the place of the one in `upstreamBin`. */
  readonly etcdProgram?: string
}

export interface RunningKarmada extends AsyncDisposable {
  readonly url: string
  readonly kubeconfigPath: string
  /** Milliseconds from the start until each part was ready. */
  readonly readyMs: Readonly<Record<string, number>>
}

/** A start takes minutes on a busy machine. */
const startMsMax = 300_000

/** The controllers of kube-controller-manager that Karmada's own deployment runs. */
const controllers = [
  'namespace-controller',
  'garbage-collector-controller',
  'serviceaccount-token-controller',
  'ttl-after-finished-controller',
  'bootstrap-signer-controller',
  'token-cleaner-controller',
  'certificatesigningrequest-cleaner-controller',
  'certificatesigningrequest-signing-controller',
  'clusterrole-aggregation-controller',
]

/** Starts Karmada's control plane on free ports of loopback; resolves when its APIs are served. */
export async function startKarmada(options: KarmadaOptions): Promise<RunningKarmada> {
  const startedMs = performance.now()
  const readyMs: Record<string, number> = {}
  const mark = (name: string): void => {
    readyMs[name] = Math.round(performance.now() - startedMs)
  }
  await using stack = new AsyncDisposableStack()
  const { directory } = options
  const credentials = await writeKarmadaCredentials(directory)
  const upstream = stack.use(
    await startUpstream({
      bin: options.upstreamBin,
      directory,
      ...(options.etcdProgram ? { etcdProgram: options.etcdProgram } : {}),
      withControllers: true,
      controllerArguments: [`--controllers=${controllers.join(',')}`],
      apiServerArguments: [
        ...frontArguments(credentials),
        `--bind-address=${options.bindAddress}`,
        '--disable-admission-plugins=StorageObjectInUseProtection,ServiceAccount',
      ],
    }),
  )
  mark('kube-apiserver')
  const parts: Parts = {
    options,
    upstream,
    credentials,
    run: async (name, flags) => {
      const program = programIn(options.bin, directory, name)
      stack.use(await runProgram({ ...program, args: argumentsOf(flags) }))
    },
    apply: (objects) => apply(options, upstream, objects),
  }
  const objects = {
    source: karmadaSource(),
    server: upstream.url,
    serverCaPem: upstream.credentials.ca,
    servingCaPem: credentials.servingCaPem,
    webhookPort: await freePort(),
  }
  parts.apply(await karmadaDefinitions(objects))
  mark('definitions')
  await startAggregated(parts, 'karmada-aggregated-apiserver', 'cluster.karmada.io')
  mark('karmada-aggregated-apiserver')
  if (options.withSearch) {
    await startAggregated(parts, 'karmada-search', 'search.karmada.io')
    mark('karmada-search')
  }
  await startWebhook(parts, objects)
  mark('karmada-webhook')
  await startControllers(parts)
  mark('karmada-controller-manager, karmada-scheduler')
  const { url, kubeconfigPath } = upstream
  const owned = stack.move()
  return { url, kubeconfigPath, readyMs, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

interface Parts {
  readonly options: KarmadaOptions
  readonly upstream: RunningUpstream
  readonly credentials: KarmadaCredentials
  readonly run: (name: string, flags: Readonly<Record<string, string>>) => Promise<void>
  readonly apply: (objects: readonly AnyObject[]) => void
}

function frontArguments({ frontProxy }: KarmadaCredentials): string[] {
  return argumentsOf({
    'proxy-client-cert-file': frontProxy.cert,
    'proxy-client-key-file': frontProxy.key,
    'requestheader-client-ca-file': frontProxy.ca,
    'requestheader-allowed-names': 'front-proxy-client',
    'requestheader-extra-headers-prefix': 'X-Remote-Extra-',
    'requestheader-group-headers': 'X-Remote-Group',
    'requestheader-username-headers': 'X-Remote-User',
  })
}

async function startAggregated(parts: Parts, name: string, group: string): Promise<void> {
  const { upstream, credentials, run, apply: applyAll } = parts
  const port = await freePort()
  const { kubeconfigPath } = upstream
  await run(name, {
    kubeconfig: kubeconfigPath,
    'authentication-kubeconfig': kubeconfigPath,
    'authorization-kubeconfig': kubeconfigPath,
    'etcd-servers': upstream.etcd,
    'tls-cert-file': join(credentials.servingDirectory, 'tls.crt'),
    'tls-private-key-file': join(credentials.servingDirectory, 'tls.key'),
    'bind-address': '127.0.0.1',
    'secure-port': String(port),
  })
  applyAll(aggregatedServer({ group, name, port }, credentials.servingCaPem))
  const resource = `${upstream.url}/apis/${group}/v1alpha1`
  await untilAnswered(name, () => statusOf(resource, upstream.credentials))
}

async function startWebhook(parts: Parts, objects: KarmadaObjectsOptions): Promise<void> {
  const { credentials, upstream, run, apply: applyAll } = parts
  const name = 'karmada-webhook'
  await run(name, {
    kubeconfig: upstream.kubeconfigPath,
    'bind-address': '127.0.0.1',
    'secure-port': String(objects.webhookPort),
    'cert-dir': credentials.servingDirectory,
    'metrics-bind-address': '0',
    'health-probe-bind-address': `127.0.0.1:${await freePort()}`,
  })
  const url = `https://127.0.0.1:${objects.webhookPort}/readyz/`
  await untilAnswered(name, () => statusOf(url, { ca: credentials.servingCaPem }))
  applyAll(await karmadaPolicy(objects))
}

/** Starts the controllers. With leader election off, they report readiness once their caches are filled. */
async function startControllers({ upstream, run }: Parts): Promise<void> {
  const ports: Record<string, number> = {}
  for (const name of ['karmada-controller-manager', 'karmada-scheduler']) {
    const port = await freePort()
    ports[name] = port
    await run(name, {
      kubeconfig: upstream.kubeconfigPath,
      'leader-elect': 'false',
      'metrics-bind-address': '0',
      'health-probe-bind-address': `127.0.0.1:${port}`,
    })
  }
  for (const [name, port] of Object.entries(ports)) {
    await untilAnswered(name, () => plainStatusOf(`http://127.0.0.1:${port}/healthz`))
  }
}

function apply(
  { upstreamBin }: KarmadaOptions,
  { kubeconfigPath }: RunningUpstream,
  items: readonly AnyObject[],
): void {
  const list = { apiVersion: 'v1', kind: 'List', items }
  const args = ['--kubeconfig', kubeconfigPath, 'apply', '--server-side', '-f', '-']
  execFileSync(join(upstreamBin, 'kubectl'), args, {
    input: JSON.stringify(list),
    stdio: ['pipe', 'ignore', 'inherit'],
  })
}

async function untilAnswered(name: string, ask: () => Promise<number | undefined>): Promise<void> {
  const endMs = performance.now() + startMsMax
  for (;;) {
    const status = await ask()
    if (status === 200) return
    if (performance.now() > endMs)
      throw new Error(`Cannot start ${name}: it answers ${status ?? 'nothing'}; see its log`)
    await sleep(100)
  }
}

function statusOf(
  url: string,
  tls: { ca: string; cert?: string; key?: string },
): Promise<number | undefined> {
  return new Promise((resolve) => {
    get(url, { ...tls, agent: false }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
      // The server is not listening yet.
    }).on('error', () => resolve(undefined))
  })
}

function plainStatusOf(url: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    getPlain(url, { agent: false }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
      // The server is not listening yet.
    }).on('error', () => resolve(undefined))
  })
}
