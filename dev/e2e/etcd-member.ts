import { join } from 'node:path'
import type { TestHost } from '@skerry/testing'
import { RoleProcess } from './role-process.ts'
import { waitFor } from './wait-for.ts'

/** A member of an etcd of several hosts, as a process of its host. */
export interface EtcdMember {
  readonly host: TestHost
  readonly role: RoleProcess
  readonly dataDir: string
  readonly clientUrl: string
  readonly peerUrl: string
}

const program = '/usr/bin/etcd'

export function clientUrlOf({ address }: TestHost): string {
  return `http://${address}:2379`
}

function peerUrlOf({ address }: TestHost): string {
  return `http://${address}:2380`
}

/** Returns a member that is not started yet. `state` is `existing` for one that joins the others. */
export function planMember(
  host: TestHost,
  all: readonly TestHost[],
  { directory, state = 'new' }: { directory: string; state?: 'new' | 'existing' },
): EtcdMember {
  const [clientUrl, peerUrl] = [clientUrlOf(host), peerUrlOf(host)]
  const dataDir = join(directory, 'etcd')
  const flags = {
    name: host.name,
    'data-dir': dataDir,
    'listen-client-urls': clientUrl,
    'advertise-client-urls': clientUrl,
    'listen-peer-urls': peerUrl,
    'initial-advertise-peer-urls': peerUrl,
    'initial-cluster': all.map((each) => `${each.name}=${peerUrlOf(each)}`).join(),
    'initial-cluster-state': state,
    'log-level': 'warn',
  }
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
  const role = new RoleProcess({
    host,
    name: `etcd-${host.name}`,
    command: [program, ...args],
    logFile: join(directory, 'etcd.log'),
  })
  return { host, role, dataDir, clientUrl, peerUrl }
}

/** Takes a member that is gone out of the others’ list and adds it again, as `etcdctl member remove` and `add`. */
export async function replaceInList(lost: EtcdMember, asked: EtcdMember): Promise<void> {
  // An answer may be lost: the list alone says whether it is gone.
  await waitFor('etcd to forget the member', async () => {
    const { members } = await ask(asked, 'list', {})
    const found = members?.find(({ peerURLs }) => peerURLs?.includes(lost.peerUrl))
    if (found === undefined) return true
    await ask(asked, 'remove', { ID: found.ID })
    return undefined
  })
  // etcd says "unhealthy cluster" until the others have been connected for some seconds.
  await waitFor('etcd to take the member', () => ask(asked, 'add', { peerURLs: [lost.peerUrl] }))
}

interface MemberList {
  readonly members?: readonly { readonly ID: string; readonly peerURLs?: readonly string[] }[]
}

/** Asks a member in its own host, by etcd's API over JSON. */
async function ask(
  { host, clientUrl }: EtcdMember,
  verb: string,
  body: object,
): Promise<MemberList> {
  const script = `
    const [url, body] = process.argv.slice(1)
    const answer = await fetch(url, { method: 'POST', body, signal: AbortSignal.timeout(5_000) })
    console.log(await answer.text())
    process.exitCode = answer.ok ? 0 : 1`
  const url = `${clientUrl}/v3/cluster/member/${verb}`
  const args = ['--input-type=module', '-e', script, url, JSON.stringify(body)]
  const { stdout, stderr, exitCode } = await host.run([process.execPath, ...args])
  if (exitCode !== 0) throw new Error(`Cannot ask etcd: member ${verb}: ${stdout}${stderr}`)
  return JSON.parse(stdout)
}
