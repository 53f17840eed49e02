import { readFile, readdir } from 'node:fs/promises'

/** A running agent's container, as the kernel sees it. */
export interface AgentProcess {
  readonly pid: number
  /** The name of the process's pod. */
  readonly host: string
  /** The distinct real, effective, saved and file system ids. */
  readonly userIds: readonly string[]
  readonly groupIds: readonly string[]
  /** The distinct inheritable, permitted, effective, bounding and ambient sets. */
  readonly capabilities: readonly bigint[]
  readonly noNewPrivileges: boolean
  /** The mount options of the process's root file system, with `ro` or `rw`. */
  readonly rootOptions: string
}

/** Returns the agents of the cluster with this name that run in containers on this machine. */
export async function agentProcesses(cluster: string): Promise<AgentProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    pids.map(async (pid) => {
      const commandLine = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')
      const words = commandLine.split('\0')
      const isAgent = words[0] === '/skerry' && words.includes(`--name=${cluster}`)
      return isAgent ? describe(Number(pid)) : undefined
    }),
  )
  return found.filter((each) => each !== undefined)
}

/** Throws when it does not run. */
export async function agentProcessOf(cluster: string, pod: string): Promise<AgentProcess> {
  const agent = (await agentProcesses(cluster)).find(({ host }) => host === pod)
  if (agent === undefined) throw new Error(`Cannot find agent: pod ${pod} has no process`)
  return agent
}

async function describe(pid: number): Promise<AgentProcess> {
  const read = (name: string): Promise<string> => readFile(`/proc/${pid}/${name}`, 'utf8')
  const [status, environment, mounts] = await Promise.all(
    ['status', 'environ', 'mountinfo'].map(read),
  )
  const valuesOf = (field: string): string[] => {
    const [, values = ''] = new RegExp(`^${field}:\\s+(.*)$`, 'm').exec(status ?? '') ?? []
    return [...new Set(values.split('\t'))]
  }
  const sets = ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'].flatMap(valuesOf)
  const root = mounts?.split('\n').find((line) => line.split(' ')[4] === '/')
  return {
    pid,
    host: /(?:^|\0)HOSTNAME=([^\0]*)/.exec(environment ?? '')?.[1] ?? '',
    userIds: valuesOf('Uid'),
    groupIds: valuesOf('Gid'),
    capabilities: [...new Set(sets.map((set) => BigInt(`0x${set}`)))],
    noNewPrivileges: valuesOf('NoNewPrivs').join() === '1',
    rootOptions: root?.split(' ')[5]?.split(',')[0] ?? '',
  }
}
