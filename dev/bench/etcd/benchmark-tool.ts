import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** So many requests of etcd's own program `benchmark`, by so many clients that each wait for their answer. */
export interface ToolLoad {
  readonly clients: number
  readonly total: number
  /** The subcommand with its flags. */
  readonly work: readonly string[]
}

const keys = ['--key-size=32', '--key-space-size=1000000', '--val-size=1024']
/** The kinds of requests; a range reads one key. */
export const toolWorks: Readonly<Record<'put' | 'range' | 'txn', readonly string[]>> =
  Object.freeze({
    put: ['put', ...keys],
    range: ['range', '/filled/1'],
    txn: ['txn-put', ...keys],
  })

/** A connection for eight clients, as etcd's own tables have it. */
export const clientsOfConnection = 8
const limitMs = 300_000

/** Returns the requests that were answered in a second. Throws if the program printed no such number. */
export async function toolRate(
  program: string,
  endpoint: string,
  { clients, total, work }: ToolLoad,
): Promise<number> {
  const connections = Math.ceil(clients / clientsOfConnection)
  const [word = '', ...flags] = work
  const { stdout } = await execute(
    program,
    [
      `--endpoints=${endpoint.replace('http://', '')}`,
      `--conns=${connections}`,
      `--clients=${clients}`,
      word,
      ...flags,
      `--total=${total}`,
    ],
    { timeout: limitMs },
  )
  const rate = Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1])
  if (rate > 0) return rate
  throw new Error(`Cannot read what ${program} printed: ${stdout.slice(-400)}`)
}
