import { posix } from 'node:path'
import type { Clock } from '@skerry/base'
import type { MachinePackage } from '../contract/machine-package.ts'
import { ShellError, type RunOptions, type RunResult, type Shell } from '../contract/shell.ts'
import type { ProgramFiles } from '../contract/step.ts'

/** How a version of the program behaves on a machine. */
export interface FakeProgram {
  readonly schema: number
  /** True: it says its version, and ends at once as a role. */
  readonly isBroken?: boolean
}

interface FakeParts {
  readonly programs: Readonly<Record<string, FakeProgram>>
  readonly clock: Clock
}

/** The machines of one cluster, of which the first are the masters. */
export class FakeCluster {
  readonly machines: readonly FakeMachine[]

  constructor(
    addresses: readonly string[],
    { masters = 1, ...parts }: FakeParts & { readonly masters?: number },
  ) {
    this.machines = addresses.map(
      (address, at) => new FakeMachine(address, at < masters, this, parts),
    )
  }

  machine(name: string): FakeMachine | undefined {
    return this.machines.find((each) => each.name === name)
  }
}

interface Process {
  readonly pid: number
  readonly version: string
  readonly environment: readonly string[]
  readonly sinceMs: number
}

/** A machine that knows just the commands of jobs. Each is taken as words; a word that no command knows fails. */
class FakeMachine {
  readonly address: string
  readonly name: string
  readonly isMaster: boolean
  readonly files = new Map<string, string>()
  readonly commands: (readonly string[])[] = []
  readonly pulled: string[] = []
  /** Each offline package that was installed: its digest, the program that did it, and the key. */
  readonly packages: string[] = []
  readonly roles = new Map<string, Process>()
  isAway = false
  release = 'debian-12'
  memoryKilobytes = 4_000_000
  /** True: its site keeps its objects in etcd, which no program migrates. */
  isInEtcd = false
  /** False: its etcd has not caught up with the others since it was started. */
  hasHealthyMember = true
  /** Options with which its node ends at once. */
  refusedOptions: string | undefined
  /** Commands that it does not know. */
  readonly unknown: string[] = []
  /** The version of the schema of its store, and how often it was restored. */
  schema = 1
  restored = 0
  restarts = 0
  #pids = 100
  readonly #cluster: FakeCluster
  readonly #programs: Readonly<Record<string, FakeProgram>>
  readonly #clock: Clock

  constructor(
    address: string,
    isMaster: boolean,
    cluster: FakeCluster,
    { programs, clock }: FakeParts,
  ) {
    this.address = address
    this.name = `m-${address.replaceAll('.', '-')}`
    this.isMaster = isMaster
    this.#cluster = cluster
    this.#programs = programs
    this.#clock = clock
    const [first = ''] = Object.keys(programs)
    this.files.set('/usr/local/bin/skerry', launcherOf(first))
    this.files.set(`/usr/local/lib/skerry/${first}/skerry`, first)
    for (const role of this.#rolesHere()) this.#start(role)
  }

  get version(): string {
    return versionIn(this.files.get('/usr/local/bin/skerry') ?? '')
  }

  shell(): Shell {
    return {
      hostKey: `SHA256:${'a'.repeat(43)}`,
      run: async (command, options) => this.#run(command, options),
      write: async (path, content) => {
        this.#mustBeThere()
        this.files.set(path, String(content))
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

  get isVoting(): boolean {
    return this.roles.has('site') && this.hasHealthyMember && !this.isAway
  }

  isReady(sinceSeconds: number): boolean {
    const node = this.roles.get('node')
    return node !== undefined && Math.floor(node.sinceMs / 1_000) + 1 > sinceSeconds
  }

  #rolesHere(): string[] {
    return this.isMaster ? ['site', 'node'] : ['node']
  }

  #mustBeThere(): void {
    if (this.isAway)
      throw new ShellError('unreachable', `Cannot open ${this.address}: nobody answers`)
  }

  #start(role: string): void {
    this.roles.delete(role)
    const { version } = this
    const program = this.#programs[version]
    if (program === undefined || program.isBroken === true) return
    if (role === 'site') {
      // A store that a newer program has migrated is not opened.
      if (program.schema < this.schema) return
      if (!this.isInEtcd) this.schema = program.schema
    }
    const options = this.files.get(`/etc/skerry/${role}-options.env`) ?? 'SKERRY_OPTIONS='
    const isRefused = this.refusedOptions !== undefined && options.includes(this.refusedOptions)
    if (role === 'node' && isRefused) return
    const environment = [`SKERRY_PROGRAM=${version}`, options.trim()]
    this.roles.set(role, {
      pid: (this.#pids += 1),
      version,
      environment,
      sinceMs: this.#clock.now(),
    })
  }

  #run(all: readonly string[], options: RunOptions = {}): RunResult {
    this.#mustBeThere()
    const command = all[0] === 'env' ? all.slice(1).filter((word) => !/^[A-Z_]+=/.test(word)) : all
    this.commands.push([
      ...command,
      ...(options.input === undefined ? [] : [String(options.input)]),
    ])
    const [name = '', ...words] = command
    if (name === '/usr/local/bin/skerry') return this.#skerry(this.version, words)
    if (name.endsWith('/launcher'))
      return this.#skerry(versionIn(this.files.get(name) ?? ''), words)
    const act = commands[name]
    if (act !== undefined)
      return act(this, options.input === undefined ? words : [...words, String(options.input)])
    this.unknown.push(command.join(' '))
    return failed(`unknown command ${command.join(' ')}`, 127)
  }

  #skerry(version: string, words: readonly string[]): RunResult {
    const program = this.#programs[version]
    if (program === undefined) return failed('no such program', 127)
    const [group, verb, ...rest] = words
    if (group === '--version') return printed(version)
    if (group === 'site' && verb === 'members') return this.#members()
    if (group === 'backup') {
      if (!this.roles.has('site')) return failed('the site does not run')
      const backup = this.isInEtcd ? 'snapshot of etcd' : `backup of schema ${this.schema}`
      this.files.set(verb ?? '', backup)
      return printed('')
    }
    if (group === 'restore') {
      this.schema = Number(/\d+$/.exec(this.files.get(verb ?? '') ?? '')?.[0])
      this.restored += 1
      return printed('')
    }
    if (group === 'image') {
      this.pulled.push(rest.at(-1) ?? '')
      return printed('')
    }
    if (verb === 'store-schema') return printed(String(program.schema))
    if (verb === 'prepare') return printed('')
    if (verb === 'install-package') return this.#installPackage(version, rest)
    if (verb !== 'node-ready') return failed(`unknown command of skerry: ${words.join(' ')}`)
    if (!this.roles.has('site')) return failed('the site does not answer')
    const since = rest[1] === '--since' ? Number(rest[2]) : 0
    return this.#cluster.machine(rest[0] ?? '')?.isReady(since) === true
      ? printed('')
      : failed('it is not Ready')
  }

  #members(): RunResult {
    if (!this.roles.has('site')) return failed('the site does not run')
    const masters = this.#cluster.machines.filter(({ isMaster }) => isMaster)
    const voting = masters.filter(({ isVoting }) => isVoting).length
    const members = masters.map(({ name, isVoting }) => {
      return { name, isLearner: false, isHealthy: isVoting }
    })
    const hasQuorum = voting > masters.length / 2
    return printed(JSON.stringify({ hasQuorum, state: `${voting} vote`, members }))
  }

  #installPackage(version: string, [, digest = '', , key = '']: readonly string[]): RunResult {
    const hex = digest.slice('sha256:'.length)
    if (!this.files.has(`/var/lib/skerry/packages/${hex}/manifest.json`)) {
      return failed(`there is no package ${digest}`)
    }
    this.packages.push(`${hex.slice(0, 2)} by ${version} with ${this.files.get(key) ?? ''}`)
    this.files.set('/var/lib/skerry/packages/installed.json', JSON.stringify({ digest }))
    return printed('0 system packages, 1 image archives')
  }

  restart(role: string): void {
    this.restarts += 1
    this.#start(role)
  }

  nowSeconds(): number {
    return Math.floor(this.#clock.now() / 1_000)
  }

  /** Everything that is left when a job has ended, except for moments. */
  state(): unknown {
    const files = [...this.files].filter(([path]) => !path.endsWith('/since'))
    const { version, schema, address } = this
    const ordered = Object.fromEntries(files.toSorted(([a], [b]) => (a < b ? -1 : 1)))
    const roles = [...this.roles.keys()].toSorted()
    return { address, version, schema, roles, files: ordered, pulled: new Set(this.pulled) }
  }

  below(directory: string): string[] {
    const inside = [...this.files.keys()].filter((path) => path.startsWith(`${directory}/`))
    return [...new Set(inside.map((path) => path.slice(directory.length + 1).split('/')[0] ?? ''))]
  }
}

function launcherOf(version: string): string {
  return `#!/bin/sh\nexport SKERRY_PROGRAM=${version}\nexec /usr/local/lib/skerry/${version}/skerry "$@"\n`
}

function versionIn(launcher: string): string {
  return /SKERRY_PROGRAM=(.+)/.exec(launcher)?.[1] ?? ''
}

/** Returns a program of this version as a hub hands it out. */
export function fakeProgramFiles(version: string): ProgramFiles {
  return {
    version,
    files: [{ from: version, to: 'skerry', mode: 0o755 }],
    launcher: (directory) => launcherOf(posix.basename(directory)),
  }
}

/** Returns an offline package with a program of this version, as a hub hands it out. */
export function fakePackage(version: string, sha256: string): MachinePackage {
  const { launcher } = fakeProgramFiles(version)
  const file = { from: version, sha256, bytes: 1_000 }
  return {
    manifest: Buffer.from(`{"program":"${version}"}`),
    signature: Buffer.from('signature'),
    program: { version, files: [{ file, to: 'skerry' }], launcher },
    debs: [],
    images: [],
  }
}

function printed(stdout: string): RunResult {
  return { exitCode: 0, stdout: `${stdout}\n`, stderr: '' }
}

function failed(stderr: string, exitCode = 1): RunResult {
  return { exitCode, stdout: '', stderr }
}

type Act = (machine: FakeMachine, words: readonly string[]) => RunResult

const plain = (words: readonly string[]): string[] => words.filter((word) => !word.startsWith('-'))

const commands: Readonly<Record<string, Act>> = {
  sync: () => printed(''),
  uname: ({ name }, [flag]) => printed(flag === '-m' ? 'x86_64' : name),
  date: (machine) => printed(String(machine.nowSeconds())),
  df: () =>
    printed(
      'Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/x 9000000 1 8000000 1% /',
    ),
  stat: (machine, words) =>
    printed(words.includes('%Y') ? String(machine.nowSeconds()) : '1000000'),
  test: ({ files }, [, path = '']) => (files.has(path) ? printed('') : failed('', 1)),
  cat: ({ files, memoryKilobytes }, words) => {
    const path = words.at(-1) ?? ''
    const content =
      path === '/proc/meminfo' ? `MemAvailable: ${memoryKilobytes} kB\n` : files.get(path)
    return content === undefined
      ? failed('no such file')
      : { exitCode: 0, stdout: content, stderr: '' }
  },
  ls: (machine, words) => printed(machine.below(words.at(-1) ?? '').join('\n')),
  od: ({ files }, words) => {
    const content = files.get(words.at(-1) ?? '') ?? ''
    if (words.includes('-tx1')) {
      return printed(content.startsWith('snapshot') ? ' ed da 0c ed' : ' 10 00 01 01')
    }
    const schema = Number(/\d+$/.exec(content)?.[0])
    return printed(`  0  0  0  ${schema}`)
  },
  sh: ({ release }) => printed(`release ${release}\narchitecture x86_64\nfree 90000000`),
  sha256sum({ files }, words) {
    // The last word is the standard input, which the commands' caller adds.
    const paths = (words.at(-1) ?? '').split('\n').map((line) => line.slice(66))
    return printed(paths.flatMap((path) => (files.has(path) ? [`${path}: OK`] : [])).join('\n'))
  },
  install: ({ files }, words) => {
    if (words.includes('-d')) return printed('')
    const [from = '', to = ''] = words.slice(words.indexOf('--') + 1)
    files.set(to, files.get(from) ?? '')
    return printed('')
  },
  mv: ({ files }, words) => {
    const [from = '', to = ''] = plain(words)
    files.set(to, files.get(from) ?? '')
    files.delete(from)
    return printed('')
  },
  rm: ({ files }, words) => {
    for (const gone of plain(words)) {
      for (const path of files.keys())
        if (path === gone || path.startsWith(`${gone}/`)) files.delete(path)
    }
    return printed('')
  },
  grep: ({ roles, files }, words) => {
    const path = words.at(-1) ?? ''
    if (!path.startsWith('/proc/')) return files.get(path) === undefined ? printed('') : failed('')
    const mark = words[words.indexOf('-e') + 1] ?? ''
    const process = [...roles.values()].find(({ pid }) => path === `/proc/${pid}/environ`)
    return process?.environment.includes(mark) === true ? printed('') : failed('')
  },
  journalctl: () => printed('it ended with 1'),
  systemctl(machine, words) {
    const [verb] = words
    const role = (words.at(-1) ?? '').replace('skerry-', '')
    if (verb === 'restart') machine.restart(role)
    if (verb === 'stop') machine.roles.delete(role)
    return printed(verb === 'show' ? String(machine.roles.get(role)?.pid ?? 0) : '')
  },
}
