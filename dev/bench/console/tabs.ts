import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { memoryOf, processorMs } from '../../processes/role-process.ts'
import { alone, beside, median, type Figure } from '../measure/figure.ts'
import type { BenchScene } from './bench-scene.ts'
import { changesPerSecond, clusterCount, ensureFleet } from './fleet-pages.ts'

const observedMs = 10_000
const settleMs = 3_000
const tabCounts = [1, 10, 100] as const
const kubectlCount = 10
/** Fifty open consoles may take a tenth of a processor. The first ones pay for what all of them share, so only the most count. */
const goalMsEach = 2
const goalIdleBytesEach = 2_000

/** The hub at work. */
interface Load {
  /** Milliseconds of a processor in a second. */
  readonly processor: number
  readonly megabytes: number
}

/**
 * Measures what open tabs cost the hub while a hundred clusters change each second, and what as many kubectls cost that
 * watch the same clusters. Processor figures are the difference to a hub at which nobody looks, in the same round.
 */
export async function measureTabs(scene: BenchScene, rounds: number): Promise<Figure[]> {
  await ensureFleet(scene)
  // The first changes compile what the later ones run.
  await loadOf(scene)
  const nobody: Load[] = []
  const kubectls: Load[] = []
  const tabs = new Map<number, Load[]>(tabCounts.map((count) => [count, []]))
  for (let round = 0; round < rounds; round += 1) {
    const before = await loadOf(scene)
    const watched = await withKubectls(scene)
    const looked = await withTabs(scene)
    await openTabs(scene, 0)
    const after = await loadOf(scene)
    nobody.push(before, after)
    const base = (before.processor + after.processor) / 2
    kubectls.push(withoutBase(watched, base))
    for (const [count, load] of looked) tabs.get(count)?.push(withoutBase(load, base))
  }
  const ten = tabs.get(kubectlCount) ?? []
  return [
    alone('console.hub.0-tabs.processor', 'ms per s', medianOf(nobody, 'processor'), null),
    alone('console.hub.0-tabs.memory', 'MB', medianOf(nobody, 'megabytes'), null),
    ...[...tabs].flatMap(([count, loads]) => {
      const figure = `console.hub.${count}-tabs`
      const goal = count === Math.max(...tabCounts) ? count * goalMsEach : null
      return [
        alone(`${figure}.processor`, 'ms per s', medianOf(loads, 'processor'), goal),
        alone(`${figure}.memory`, 'MB', medianOf(loads, 'megabytes'), null),
      ]
    }),
    besideKubectl('processor', ten, kubectls),
    besideKubectl('megabytes', ten, kubectls),
    ...(await idleFigures(scene)),
  ]
}

const units = { processor: 'ms per s', megabytes: 'MB' }
const names = { processor: 'processor', megabytes: 'memory' }

function besideKubectl(what: keyof Load, ten: readonly Load[], kubectls: readonly Load[]): Figure {
  const [ours, peer] = [ten, kubectls].map((loads) => loads.map((load) => load[what]))
  const name = `console.hub.${kubectlCount}-tabs-and-kubectls.${names[what]}`
  return beside(name, { unit: units[what], ours: ours ?? [], peer: peer ?? [], goal: 1 })
}

function medianOf(loads: readonly Load[], what: keyof Load): number {
  return median(loads.map((load) => load[what]))
}

function withoutBase({ processor, megabytes }: Load, base: number): Load {
  return { processor: processor - base, megabytes }
}

async function withTabs(scene: BenchScene): Promise<readonly (readonly [number, Load])[]> {
  const loads: [number, Load][] = []
  for (const count of tabCounts) {
    await openTabs(scene, count)
    loads.push([count, await loadOf(scene)])
  }
  return loads
}

async function openTabs(scene: BenchScene, count: number): Promise<void> {
  const { hubConfig: at, readers: tokens, cloud, atHub } = scene
  await atHub.order({ do: 'tabs', at, server: cloud.server, tokens, count })
}

async function loadOf({ atHub, hubConfig, cloud: { hub } }: BenchScene): Promise<Load> {
  const forMs = settleMs + observedMs
  const change = { at: hubConfig, count: clusterCount, perSecond: changesPerSecond, forMs }
  const changing = atHub.order({ do: 'change', ...change })
  await sleep(settleMs)
  const beforeMs = await processorMs(hub.pid)
  await sleep(observedMs)
  const spentMs = (await processorMs(hub.pid)) - beforeMs
  const { resident } = await memoryOf(hub.pid)
  await changing
  return { processor: (spentMs * 1_000) / observedMs, megabytes: resident }
}

/** A hundred tabs at which nothing changes. */
async function idleFigures(scene: BenchScene): Promise<Figure[]> {
  const { atHub } = scene
  const { hub } = scene.cloud
  await openTabs(scene, Math.max(...tabCounts))
  await sleep(settleMs)
  const beforeBytes = await atHub.order({ do: 'tab-bytes' })
  const beforeMs = await processorMs(hub.pid)
  await sleep(2 * observedMs)
  const bytes = (await atHub.order({ do: 'tab-bytes' })) - beforeBytes
  const spentMs = (await processorMs(hub.pid)) - beforeMs
  const seconds = (2 * observedMs) / 1_000
  const bytesEach = bytes / seconds / Math.max(...tabCounts)
  return [
    alone('console.hub.100-idle-tabs.processor', 'ms per s', spentMs / seconds, null),
    alone('console.hub.idle-tab.bytes', 'B/s', bytesEach, goalIdleBytesEach),
  ]
}

async function withKubectls(scene: BenchScene): Promise<Load> {
  const { cloud } = scene
  const words = ['--server', cloud.server, 'get', 'clusters.cluster.karmada.io', '--watch']
  const children: ChildProcess[] = []
  try {
    for (let at = 0; at < kubectlCount; at += 1) {
      const child = cloud.host.start(cloud.command(words), {
        stdio: ['ignore', 'ignore', 'inherit'],
        env: { ...process.env, ...cloud.env },
      })
      children.push(child)
      await once(child, 'spawn')
    }
    await sleep(settleMs)
    return await loadOf(scene)
  } finally {
    for (const child of children) {
      const exited = once(child, 'exit')
      child.kill()
      await exited
    }
  }
}
