import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { memoryOf, processorMs } from '../../processes/role-process.ts'
import { alone, beside, type Figure } from '../measure/figure.ts'
import type { BenchScene } from './bench-scene.ts'
import { changesPerSecond, clusterCount, ensureFleet } from './fleet-pages.ts'

const observedMs = 10_000
const settleMs = 3_000
const tabCounts = [1, 10, 100] as const
const kubectlCount = 10
/** Fifty open consoles may take a tenth of a processor. */
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
 * watch the same clusters. Each figure is the difference to a hub at which nobody looks.
 */
export async function measureTabs(scene: BenchScene): Promise<Figure[]> {
  await ensureFleet(scene)
  // The first changes compile what the later ones run.
  await loadOf(scene)
  const nobody = await loadOf(scene)
  const kubectls = differenceOf(await withKubectls(scene), nobody)
  const between = await loadOf(scene)
  const { hubConfig: at, readers: tokens, cloud, atHub } = scene
  const loads = new Map<number, Load>()
  for (const count of tabCounts) {
    await atHub.order({ do: 'tabs', at, server: cloud.server, tokens, count })
    loads.set(count, differenceOf(await loadOf(scene), between))
  }
  const ten = loads.get(kubectlCount)
  return [
    alone('console.hub.0-tabs.processor', 'ms per s', nobody.processor, null),
    alone('console.hub.0-tabs.memory', 'MB', nobody.megabytes, null),
    ...[...loads].flatMap(([count, { processor, megabytes }]) => [
      alone(`console.hub.${count}-tabs.processor`, 'ms per s', processor, count * goalMsEach),
      alone(`console.hub.${count}-tabs.memory`, 'MB', megabytes, null),
    ]),
    besideKubectl('processor', 'ms per s', ten?.processor, kubectls.processor),
    besideKubectl('memory', 'MB', ten?.megabytes, kubectls.megabytes),
    ...(await idleFigures(scene)),
  ]
}

function besideKubectl(what: string, unit: string, ours = NaN, peer = NaN): Figure {
  const name = `console.hub.${kubectlCount}-tabs-and-kubectls.${what}`
  return beside(name, { unit, ours: [ours], peer: [peer], goal: 1 })
}

function differenceOf(load: Load, without: Load): Load {
  return {
    processor: load.processor - without.processor,
    megabytes: load.megabytes - without.megabytes,
  }
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
async function idleFigures({ atHub, cloud: { hub } }: BenchScene): Promise<Figure[]> {
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
