import assert from 'node:assert/strict'
import type { EdgeHub } from '../../e2e/edge-hub.ts'
import { leftOvers } from '../../e2e/left-overs.ts'
import type { MachineArchitecture } from '../virtual-machines/architectures-table.ts'
import type { VirtualMachine } from '../virtual-machines/virtual-machine.ts'

/** The life of virtual machines, from their first boot until their cluster is gone. */
export interface Story {
  readonly architecture: MachineArchitecture
  /** Rejects with the first thing that is not as it should be. */
  play(): Promise<void>
}

export type Chapter<Scene> = readonly [title: string, play: (scene: Scene) => Promise<void>]

/** Emulated machines are twelve times slower than the host, and other work on the host makes them slower still. */
export const patienceMs = 1_800_000
export const namespace = 'edges'

/** Prints how long each chapter took. */
export async function playChapters<Scene>(
  chapters: readonly Chapter<Scene>[],
  scene: Scene,
): Promise<void> {
  for (const [title, play] of chapters) {
    const startMs = performance.now()
    await play(scene)
    told(title, performance.now() - startMs)
  }
}

export function told(title: string, ms: number): void {
  console.log(`${(ms / 1_000).toFixed(0).padStart(5)} s  ${title}`)
}

/** Creates the pod `hello` on the machine, with one container. */
export async function createHello(
  hub: EdgeHub,
  { name: nodeName }: VirtualMachine,
  container: { readonly image: string; readonly command: readonly string[] },
): Promise<void> {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'hello', namespace: 'default' },
    spec: { nodeName, containers: [{ name: 'hello', ...container }] },
  }
  await hub.applyToSite(JSON.stringify(pod))
}

/** The files, units, mounts and rules of each machine. */
type States = ReadonlyMap<VirtualMachine, readonly string[]>

export async function stateOf(machines: readonly VirtualMachine[]): Promise<States> {
  const found = new Map<VirtualMachine, readonly string[]>()
  for (const each of machines) found.set(each, await leftOvers(each))
  return found
}

interface LastScene {
  readonly hub: EdgeHub
  /** The state before the cluster was made. */
  readonly before: States
  /** Finds out which lines belong to system packages, which stay. If omitted, no package was installed. */
  readonly packaged?: (machine: VirtualMachine) => Promise<(line: string) => boolean>
}

export const leavesNothing: Chapter<LastScene> = [
  'the cluster is taken away, and nothing is left',
  async ({ hub, before, packaged }) => {
    await hub.kubectl('delete', 'edgecluster', 'branch-7', '-n', namespace, '--wait=false')
    await hub.until('the object to be gone', async () => {
      const found = await hub.tryKubectl(['get', 'edgecluster', 'branch-7', '-n', namespace])
      return found.exitCode === 1 && found.stderr.includes('NotFound')
    })
    const left: string[] = []
    for (const [machine, lines] of before) {
      const known = new Set(lines)
      const isPackaged = (await packaged?.(machine)) ?? (() => false)
      const more = (await leftOvers(machine)).filter((line) => !known.has(line))
      const ours = more.filter((line) => !isPackaged(line))
      left.push(...ours.map((line) => `${machine.name}: ${line}`))
    }
    assert.deepEqual(left, [], 'something is left')
  },
]
