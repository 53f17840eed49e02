import { setTimeout as pause } from 'node:timers/promises'
import type { Pod } from '@skerry/api'
import { ifThere, resources } from '@skerry/client'
import { until } from '@skerry/testing'
import { guestAddress } from '../virtual-machines/quick-image.ts'
import { HostSite } from './host-site.ts'
import { imageDirectory, podImage, skerry } from './program-files.ts'
import type { Life, LifePlan, Subject, SubjectDeps, SubjectKind } from './subject.ts'

const namespace = 'default'
const nodeName = 'quick'
const settings = 'settings'
const patienceMs = 900_000
/** Pods that are there in every life. */
const lastingPods = ['lasting-0', 'lasting-1']

const nodeCommand = [
  `exec ${skerry} node --data-dir /var/lib/skerry/node --node-name ${nodeName}`,
  `--node-ip ${guestAddress} --preload-dir ${imageDirectory} $(cat /var/lib/skerry/joining)`,
].join(' ')

export const nodeKind: SubjectKind = {
  title: 'a node with pods, its site on the host',
  ports: [],
  memoryMegabytes: 1_024,
  writesMax: 3,
  lifeMsMax: 45_000,
  async open(deps) {
    const site = new HostSite(deps.directory)
    await site.start()
    await site.cluster.resource(resources.configMaps).create(
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: settings, namespace },
        data: { at: '0' },
      },
      AbortSignal.timeout(patienceMs),
    )
    return new NodeSubject(deps, site)
  },
}

/**
 * `skerry node` in the machine, and its site on the host. A pod that the API has shown as Ready is an acknowledged one:
 * it must run again after a cut, in every other life before the site can be reached.
 */
class NodeSubject implements Subject {
  readonly #deps: SubjectDeps
  readonly #site: HostSite
  /** The names of pods that were Ready and are not being deleted. */
  readonly #ready = new Set<string>()
  #acknowledged = 0

  constructor(deps: SubjectDeps, site: HostSite) {
    this.#deps = deps
    this.#site = site
  }

  get acknowledged(): number {
    return this.#acknowledged
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#site[Symbol.asyncDispose]()
  }

  async live({ boot, signal }: LifePlan): Promise<Life> {
    const isAlone = boot % 2 === 1
    const problems: string[] = []
    if (isAlone) await this.#site.stop()
    if (boot === 0) await this.#prepare()
    const startMs = performance.now()
    const running = this.#deps.machine.run(nodeCommand, {
      timeoutMs: 3_600_000,
      onLine: (line) => void (/damaged/i.test(line) && problems.push(line)),
    })
    const ended = running.then((text) => {
      throw new Error(`skerry node ended: ${text.slice(-1_000)}`)
    })
    const start = async (): Promise<string> => {
      const wanted = [...this.#ready]
      await this.#untilRunning(wanted, signal)
      const seconds = ((performance.now() - startMs) / 1_000).toFixed(1)
      if (isAlone) await this.#site.start()
      await this.#untilReported(signal)
      await this.#deleteUnready(signal)
      for (const name of lastingPods) await this.#create(name, signal)
      problems.push(...(await this.#surplus(signal)))
      return `${wanted.length} pods run after ${seconds} s${isAlone ? ' without the site' : ''}`
    }
    const notes = await Promise.race([ended, start()])
    return {
      problems,
      notes,
      parts: [ended, this.#churn(boot, signal), this.#change(boot, signal)],
    }
  }

  async #prepare(): Promise<void> {
    const { token, caHash } = await this.#site.createToken()
    const flags = `--server ${this.#site.server} --token-file /var/lib/skerry/token --ca-hash ${caHash}`
    const script = `umask 077; cd /var/lib/skerry; echo ${token} > token; echo ${flags} > joining; sync`
    await this.#deps.machine.run(script)
  }

  /** Resolves when the processes of these pods run, seen without the API. */
  async #untilRunning(names: readonly string[], signal: AbortSignal): Promise<void> {
    await soon(signal, async () => {
      const running = await this.#processes()
      return names.every((name) => running.includes(secondsOf(name)))
    })
  }

  /** Returns the argument of each `sleep` in the machine: a pod has its own. */
  async #processes(): Promise<number[]> {
    const script = String.raw`cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' ' '`
    const text = await this.#deps.machine.run(script)
    return [...text.matchAll(/sleep (\d{6,}) /g)].map(([, seconds]) => Number(seconds))
  }

  /** Resolves when the site has heard of this boot, and of all pods in it. */
  async #untilReported(signal: AbortSignal): Promise<void> {
    const boot = await this.#deps.machine.run('cat /proc/sys/kernel/random/boot_id')
    await soon(signal, async () => {
      const nodes = this.#site.cluster.resource(resources.nodes)
      const { status } = await nodes.get({ name: nodeName }, signal)
      const isOn = status?.conditions?.some(
        ({ type, status: state }) => type === 'Ready' && state === 'True',
      )
      return isOn === true && status?.nodeInfo?.bootID === boot.trim()
    })
    for (const name of this.#ready) await soon(signal, () => this.#isReady(name, signal))
  }

  /** Deletes pods that the cut kept from being Ready. */
  async #deleteUnready(signal: AbortSignal): Promise<void> {
    const pods = this.#site.cluster.resource(resources.pods)
    const { items } = await pods.list({ namespace }, signal)
    for (const { metadata } of items) {
      const { name = '' } = metadata
      if (!this.#ready.has(name)) await this.#delete(name, signal)
    }
  }

  async #delete(name: string, signal: AbortSignal): Promise<void> {
    const pods = this.#site.cluster.resource(resources.pods)
    this.#ready.delete(name)
    await ifThere(pods.delete({ namespace, name, gracePeriodSeconds: 1 }, signal))
    await soon(
      signal,
      async () => (await ifThere(pods.get({ namespace, name }, signal))) === undefined,
    )
  }

  /** Returns a line for each process that runs twice, or whose pod is gone. */
  async #surplus(signal: AbortSignal): Promise<string[]> {
    const known = new Set([...this.#ready].map(secondsOf))
    let left: number[] = []
    const isCalm = async (): Promise<boolean> => {
      const running = await this.#processes()
      left = running.filter((each, at) => !known.has(each) || running.indexOf(each) !== at)
      return left.length === 0
    }
    await soon(signal, isCalm).catch(() => signal.throwIfAborted())
    return left.map((seconds) => `sleep ${seconds} runs without a pod, or twice`)
  }

  async #isReady(name: string, signal: AbortSignal): Promise<boolean> {
    const pods = this.#site.cluster.resource(resources.pods)
    const { status } = await pods.get({ namespace, name }, signal)
    return (
      status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') === true
    )
  }

  async #create(name: string, signal: AbortSignal): Promise<void> {
    if (this.#ready.has(name)) return
    await this.#site.cluster.resource(resources.pods).create(podOf(name), signal)
    await soon(signal, () => this.#isReady(name, signal))
    this.#ready.add(name)
    this.#acknowledged += 1
  }

  /** Makes pods and deletes them again. */
  async #churn(boot: number, signal: AbortSignal): Promise<void> {
    for (let count = 0; ; count += 1) {
      await this.#create(`churn-${boot}-${count}`, signal)
      const old = [...this.#ready].find((name) => name.startsWith('churn-'))
      if (old !== undefined && this.#ready.size > lastingPods.length + 1) {
        await this.#delete(old, signal)
      }
    }
  }

  /** Changes the ConfigMap that all pods mount, so that the node stores it again and again. */
  async #change(boot: number, signal: AbortSignal): Promise<void> {
    const configMaps = this.#site.cluster.resource(resources.configMaps)
    for (let count = 0; ; count += 1) {
      const patch = { data: { at: `${boot}-${count}`.padEnd(2_000, '.') } }
      await configMaps.patch({ namespace, name: settings, type: 'merge', patch }, signal)
      await pause(200, undefined, { signal })
    }
  }
}

/** Asks until it is so; questions fail while the site or the node starts. */
async function soon(signal: AbortSignal, ask: () => Promise<boolean>): Promise<void> {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)])
  await until(() => ask().catch(() => false), bounded)
}

/** Returns how long the process of a pod sleeps: a number that no other process has. */
function secondsOf(name: string): number {
  const [kind, first = '0', second = '0'] = name.split('-')
  return (kind === 'lasting' ? 900_000 : 1_000_000) + Number(first) * 1_000 + Number(second)
}

function podOf(name: string): Pod {
  const command = ['sleep', String(secondsOf(name))]
  const volumeMounts = [{ name: settings, mountPath: '/settings' }]
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: {
      nodeName,
      terminationGracePeriodSeconds: 1,
      // A machine without power is away for minutes; its pods shall wait for it.
      tolerations: [{ operator: 'Exists' }],
      containers: [{ name: 'main', image: podImage, command, volumeMounts }],
      volumes: [{ name: settings, configMap: { name: settings } }],
    },
  }
}
