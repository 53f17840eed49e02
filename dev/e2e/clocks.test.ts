/** Clocks are years off, at the edge and in the cloud: when they are right again, nobody is locked out. */
import assert from 'node:assert/strict'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { startCloud, type Cloud } from './cloud.ts'
import { ClusterOnHosts, type EdgeNode } from './cluster-on-hosts.ts'
import { whyNot } from './prerequisites.ts'
import type { RoleProcess } from './role-process.ts'
import { waitFor } from './wait-for.ts'
import { WallClock } from './wall-clock.ts'

/**
 * The offsets in turn. Neighbours differ in their kind of error, including the last and the first, so that
 * each is reported.
 */
const offsets = ['-10y', '+2y', '-1d', '+11y', '+1d'] as const
type Offset = (typeof offsets)[number]

/** A report of a site or hub on its clock, or that it serves. */
type Event = 'behind' | 'ahead' | 'right' | 'serves'

/** A clock that is a day ahead may follow a day without power, so it is not reported. */
const ways: Readonly<Record<Offset, 'behind' | 'ahead' | undefined>> = Object.freeze({
  '-10y': 'behind',
  '-1d': 'behind',
  '+1d': undefined,
  '+2y': 'ahead',
  '+11y': 'ahead',
})

/** The lease of a node is renewed every ten seconds. */
const leaseMs = 10_000

interface Scene {
  readonly cluster: ClusterOnHosts
  readonly cloud: Cloud
  readonly node: EdgeNode
}

test('clocks that are years off', { skip: await whyNot(), timeout: 400_000 }, async (t) => {
  await using edge = await WallClock.start()
  await using away = await WallClock.start()
  await using cluster = await ClusterOnHosts.start({ command: edge.command })
  const node = await cluster.addNode(1)
  const commands = { hubCommand: away.command, agentCommand: edge.command }
  const cloud = await startCloud(cluster, commands)
  // The agent needs its token only for its first registration.
  await rm(join(cluster.directory, 'agent.token'))
  const scene = { cluster, cloud, node }
  await untilNobodyIsLockedOut(scene)
  for (const [index] of offsets.entries()) {
    const [one, two] = [offsetAt(index), offsetAt(index + 1)]
    const [three, four] = [offsetAt(index + 2), offsetAt(index + 3)]
    await t.test(
      `an edge that starts at ${one} and is set to ${two}, a cloud that is set to ${three} and starts at ${four}`,
      async () => {
        const [site, hub] = [await ToldEvents.of(cluster.site), await ToldEvents.of(cloud.hub)]
        await away.set(three)
        await startUnder(edge, one, [cluster.site, node.role, cloud.agent])
        await site.until(ways[one], 'serves')
        await hub.until(ways[three])
        await edge.set(two)
        await startUnder(away, four, [cloud.hub])
        await site.until(ways[two] ?? 'right')
        await hub.until(ways[four], 'serves')
        await edge.set('+0')
        await away.set('+0')
        await untilNobodyIsLockedOut(scene)
        await site.until(ways[two] && 'right')
        await hub.until(ways[four] && 'right')
      },
    )
  }
  await t.test(
    'everything issued meanwhile is issued again by one command, and nobody is kept out',
    async () => {
      for (const [role, skerry, directory] of [
        [cluster.site, cluster, cluster.siteDirectory],
        [cloud.hub, cloud, cloud.directory],
      ] as const) {
        const where = ['--data-dir', directory]
        const told = await skerry.skerry('certificates', 'renew', ...where)
        assert.match(told, /: 4 certificates issued again; it runs, and uses them now\n/, role.name)
        const listed = await skerry.skerry('certificates', 'list', ...where)
        assert.deepEqual(
          new Set(listed.trim().split('\n').map(lastWord)),
          new Set(['STATE', 'good']),
        )
      }
      await untilNobodyIsLockedOut(scene)
    },
  )
})

function lastWord(line: string): string {
  return line.split(/\s+/).at(-1) ?? ''
}

function offsetAt(index: number): Offset {
  return offsets[index % offsets.length] ?? '-10y'
}

async function startUnder(
  clock: WallClock,
  offset: Offset,
  roles: readonly RoleProcess[],
): Promise<void> {
  await Promise.all(roles.map((role) => role.stop()))
  await clock.set(offset)
  await Promise.all(roles.map((role) => role.start()))
}

/** Collects the events that a role logs from now on, each once and no others. */
class ToldEvents {
  readonly #role: RoleProcess
  readonly #before: number
  readonly #expected: Event[] = []

  private constructor(role: RoleProcess, before: number) {
    this.#role = role
    this.#before = before
  }

  static async of(role: RoleProcess): Promise<ToldEvents> {
    return new ToldEvents(role, (await toldBy(role)).length)
  }

  async until(...events: readonly (Event | undefined)[]): Promise<void> {
    this.#expected.push(...events.filter((event) => event !== undefined))
    const told = await waitFor(
      `${this.#role.name} to say ${this.#expected.join(', ')}`,
      async () => {
        const lines = (await toldBy(this.#role)).slice(this.#before)
        return lines.length >= this.#expected.length ? lines : undefined
      },
    )
    assert.deepEqual(told, this.#expected)
  }
}

async function toldBy(role: RoleProcess): Promise<Event[]> {
  const text = await readFile(role.logFile, 'utf8')
  return text.split('\n').flatMap((line): Event[] => {
    if (line.includes('"Clock is right again"')) return ['right']
    if (/"(Site|Hub) serves"/.test(line)) return ['serves']
    if (!line.includes('"Clock is off"')) return []
    return [line.includes('it is behind; set the clock') ? 'behind' : 'ahead']
  })
}

/** The site's own administrator, the node, and the hub's administrator through the tunnel. */
async function untilNobodyIsLockedOut({ cluster, cloud, node }: Scene): Promise<void> {
  await cluster.untilServing()
  await cluster.waitFor('requests to pass the hub and its tunnel', async () =>
    (await cloud.tryKubectl(['get', '--raw', '/readyz'])).stdout === 'ok' ? true : undefined,
  )
  const lease = ['lease', '-n', 'kube-node-lease', node.name, '-o', 'jsonpath={.spec.renewTime}']
  await cluster.waitFor('the node to renew its lease by the right clock', async () => {
    const renewedMs = Date.parse(await cluster.kubectl('get', ...lease))
    return Math.abs(renewedMs - Date.now()) <= leaseMs + 2_000 ? true : undefined
  })
  await cluster.untilNodeReady(node.name)
  await cluster.waitFor('the site to reach its node', async () => {
    const { exitCode } = await cluster.tryKubectl([
      'get',
      '--raw',
      `/api/v1/nodes/${node.name}/proxy/healthz`,
    ])
    return exitCode === 0 ? true : undefined
  })
}
