import type { Clock } from '@skerry/base'
import { ShellError, type RunOptions, type RunResult, type Shell } from '../contract/shell.ts'
import { runOnFakeEdge } from './fake-edge-commands.ts'

export interface FakeNode {
  readonly isCordoned: boolean
  /** Its labels and taints, as options of a node have them. */
  readonly labels: readonly string[]
}

/** Machines that become a cluster: they know just the commands of its steps, and what these do to the others. */
export class FakeEdge {
  readonly machines: ReadonlyMap<string, FakeEdgeMachine>
  /** The members of the masters' etcd. */
  readonly voters = new Set<string>()
  readonly nodes = new Map<string, FakeNode>()
  /** The tokens that open something. */
  readonly tokens = new Set<string>()
  readonly clock: Clock
  /** The only node that a token lets in, if it is for one. */
  readonly nodeOfToken = new Map<string, string>()
  /** Commands that no machine knows: a step that is new here, or has a slip. */
  readonly unknown: string[] = []
  /** False: the programs of its masters are older than the command for labels. */
  knowsLabels = true
  #made = 0

  constructor(addresses: readonly string[], clock: Clock) {
    this.clock = clock
    this.machines = new Map(addresses.map((each) => [each, new FakeEdgeMachine(each, this)]))
  }

  machine(address: string): FakeEdgeMachine {
    const found = this.machines.get(address)
    if (found === undefined) throw new RangeError(`Cannot find machine ${address}`)
    return found
  }

  /** Returns a token that nobody had before: this text with a number in front. */
  makeToken(rest: string, nodeName?: string): string {
    this.#made += 1
    const token = `${String(this.#made).padStart(6, '0')}.${rest}`
    this.tokens.add(token)
    if (nodeName !== undefined) this.nodeOfToken.set(token, nodeName)
    return token
  }

  /** Reports whether a member runs and can be reached. */
  isHealthy(name: string): boolean {
    return [...this.machines.values()].some(
      (each) => !each.isAway && each.hasHealthyMember && each.memberName === name,
    )
  }

  get hasQuorum(): boolean {
    const healthy = [...this.voters].filter((name) => this.isHealthy(name))
    return healthy.length > this.voters.size / 2
  }

  /** Everything that is left when steps are done, except for moments and tokens. */
  state(): unknown {
    const machines = [...this.machines.values()].map((each) => each.state())
    return { machines, voters: [...this.voters].toSorted(), nodes: Object.fromEntries(this.nodes) }
  }
}

export class FakeEdgeMachine {
  readonly address: string
  readonly name: string
  readonly edge: FakeEdge
  readonly files = new Map<string, string>()
  /** The units that run, with the options with which they were started. */
  readonly running = new Map<string, string>()
  readonly enabled = new Set<string>()
  readonly commands: (readonly string[])[] = []
  isAway = false
  /** False: its etcd has not caught up with the others. */
  hasHealthyMember = true
  readonly #other: readonly string[] = ['/etc/hosts', '/etc/motd']

  constructor(address: string, edge: FakeEdge) {
    this.address = address
    this.name = `m-${address.replaceAll('.', '-')}`
    this.edge = edge
    for (const path of this.#other) this.files.set(path, `${path} of the machine`)
  }

  /** The name of the member of etcd that runs here. */
  get memberName(): string | undefined {
    if (this.running.has('skerry-witness')) return 'witness'
    const site = this.running.get('skerry-site')
    return site?.includes('--etcd embedded') === true ? this.name : undefined
  }

  /** True if the site of this machine answers. A site on etcd needs a majority of its members for that. */
  get isServing(): boolean {
    const { memberName, edge } = this
    if (!this.running.has('skerry-site')) return false
    return memberName === undefined || (edge.voters.has(memberName) && edge.hasQuorum)
  }

  shell(): Shell {
    return {
      hostKey: `SHA256:${'a'.repeat(43)}`,
      run: async (command, options) => this.#run(command, options),
      write: async (path, content) => {
        this.#mustBeThere()
        this.files.set(path, Buffer.from(content).toString())
      },
      upload: async (from, to) => {
        this.#mustBeThere()
        this.files.set(to, from)
      },
      uploadByDigest: async (files, directory) => {
        this.#mustBeThere()
        for (const { from, sha256 } of files) this.files.set(`${directory}/${sha256}`, from)
      },
      [Symbol.asyncDispose]: async () => undefined,
    }
  }

  state(): unknown {
    const ordered = [...this.files].toSorted(([a], [b]) => (a < b ? -1 : 1))
    // A node that begins earlier names fewer masters, and learns the others from its site.
    const lasting = (text: string): string => text.replaceAll(/--server \S+ /g, '')
    const files = Object.fromEntries(ordered.map(([path, text]) => [path, lasting(text)]))
    const { address } = this
    return {
      address,
      files,
      running: [...this.running.keys()].toSorted(),
      enabled: [...this.enabled],
    }
  }

  #mustBeThere(): void {
    if (!this.isAway) return
    throw new ShellError('unreachable', `Cannot open ${this.address}: nobody answers`)
  }

  #run(command: readonly string[], { input }: RunOptions = {}): RunResult {
    this.#mustBeThere()
    this.commands.push(command)
    const text = input === undefined ? '' : Buffer.from(input).toString()
    return { exitCode: 0, stdout: '', stderr: '', ...runOnFakeEdge(this, command, text) }
  }
}
