import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createTestNetwork, type TestHost } from '@skerry/testing'
import type { PodAnswer, PodOrder, Protocol } from './pod-program.ts'

/** Pods of one node in separate network namespaces, on one bridge, as its network plugin connects them. */
export interface PolicyScene extends AsyncDisposable {
  readonly host: TestHost
  readonly addressOf: (pod: string) => string
  /**
   * Calls from a pod, `node` or `outside` (another machine). Resolves to true if the expected pod
   * answers.
   */
  hears(call: Call): Promise<boolean>
  /** Opens a connection that stays open. The result checks whether the other end still answers on it. */
  open(from: string, to: string, port: number): Promise<(isExpected: boolean) => Promise<boolean>>
  /** Rejects with nft's words. */
  load(script: string): Promise<void>
}

export interface Call {
  from: string
  /** A pod, or the address of a service. */
  to: string
  port: number
  protocol?: Protocol
  /** The pod that must answer, if `to` is a service. */
  answers?: string
  /**
   * True if the call should pass, which then gets time for a slow machine. Otherwise the call is
   * given up soon.
   */
  isExpected: boolean
}

const scenePorts = Object.freeze([80, 81])
const passesWithinMs = 20_000
const deniedWithinMs = 500

export async function createPolicyScene(pods: readonly string[]): Promise<PolicyScene> {
  await using stack = new AsyncDisposableStack()
  const network = stack.use(await createTestNetwork())
  const host = await network.addHost(1)
  const outside = await network.addHost(2)
  await run(host, nodeScript)
  const addresses = new Map(pods.map((pod, index) => [pod, `10.42.0.${index + 2}`]))
  const programs = new Map<string, PodProgram>()
  await run(host, [...addresses.values()].map(podScript).join('\n'))
  const start = (name: string, on: TestHost, command: readonly string[]): void => {
    programs.set(name, stack.use(startProgram(on, command)))
  }
  start('node', host, [])
  start('outside', outside, [])
  for (const [pod, address] of addresses)
    start(pod, host, ['ip', 'netns', 'exec', namespaceOf(address)])
  const programOf = (name: string): PodProgram => {
    const program = programs.get(name)
    if (!program) throw new RangeError(`Cannot find "${name}" in this scene`)
    return program
  }
  await Promise.all(
    pods.map((name) => programOf(name).tell({ act: 'serve', name, ports: [...scenePorts] })),
  )
  const owned = stack.move()
  const addressOf = (name: string): string => addresses.get(name) ?? name
  return {
    host,
    addressOf,
    async hears({ from, to, port, protocol = 'tcp', answers = to, isExpected }) {
      const withinMs = isExpected ? passesWithinMs : deniedWithinMs
      const order = { act: 'call', protocol, address: addressOf(to), port, withinMs } as const
      return (await programOf(from).tell(order)).heard === answers
    },
    async open(from, to, port) {
      const program = programOf(from)
      const place = { address: addressOf(to), port, withinMs: passesWithinMs }
      const first = await program.tell({ act: 'open', ...place })
      if (first.heard !== to) throw new Error(`Cannot reach ${to} from ${from}: no answer`)
      return async (isExpected) => {
        const withinMs = isExpected ? passesWithinMs : deniedWithinMs
        return (await program.tell({ act: 'say', opened: first.id, withinMs })).heard === to
      }
    },
    async load(script) {
      const result = await host.run(['nft', '-f', '-'], { input: script })
      if (result.exitCode !== 0) throw new Error(`Cannot load rules: ${result.stderr}${script}`)
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

const nodeScript = `mkdir -p /run/netns; echo 1 > /proc/sys/net/ipv4/ip_forward
  echo 0 > /proc/sys/net/ipv4/icmp_ratelimit
  ip link add pods type bridge; ip address add 10.42.0.1/24 dev pods; ip link set pods up
  ip route add 10.43.0.0/16 dev lo
  echo 1 > /proc/sys/net/bridge/bridge-nf-call-iptables`

function namespaceOf(address: string): string {
  return `pod${address.split('.')[3]}`
}

function podScript(address: string): string {
  const pod = namespaceOf(address)
  return `ip netns add ${pod}; ip link add v${pod} type veth peer name eth0 netns ${pod}
    ip link set v${pod} master pods up; bridge link set dev v${pod} hairpin on
    ip -n ${pod} address add ${address}/24 dev eth0; ip -n ${pod} link set eth0 up
    ip -n ${pod} link set lo up; ip -n ${pod} route add default via 10.42.0.1`
}

async function run(host: TestHost, script: string): Promise<void> {
  const result = await host.run(['sh', '-ec', script])
  if (result.exitCode !== 0) throw new Error(`Cannot prepare the scene: ${result.stderr}`)
}

type Told<T> = T extends PodOrder ? Omit<T, 'id'> : never

interface PodProgram extends AsyncDisposable {
  tell(order: Told<PodOrder>): Promise<PodAnswer>
}

const programPath = fileURLToPath(new URL('pod-program.ts', import.meta.url))

function startProgram(host: TestHost, inside: readonly string[]): PodProgram {
  const child = host.start([...inside, process.execPath, programPath], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const { stdin, stdout } = pipesOf(child)
  const waiting = new Map<number, (answer: PodAnswer) => void>()
  const ended = once(child, 'exit')
  let last = 0
  createInterface({ input: stdout }).on('line', (line) => {
    // The program answers with this type.
    const answer = JSON.parse(line) as PodAnswer
    waiting.get(answer.id)?.(answer)
    waiting.delete(answer.id)
  })
  return {
    async tell(order) {
      const id = (last += 1)
      const { promise, resolve } = Promise.withResolvers<PodAnswer>()
      waiting.set(id, resolve)
      stdin.write(`${JSON.stringify({ id, ...order })}\n`)
      return Promise.race([promise, ended.then(() => ({ id, heard: 'its program has ended' }))])
    },
    async [Symbol.asyncDispose]() {
      stdin.end()
      await ended
    },
  }
}

function pipesOf({ stdin, stdout }: ChildProcess) {
  if (!stdin || !stdout) throw new TypeError('Cannot talk to a pod: it has no pipes')
  return { stdin, stdout }
}
