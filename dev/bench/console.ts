import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ExpectedError, exitCodes } from '@skerry/base'
import { whyNot } from '../e2e/prerequisites.ts'
import { startBenchScene, type BenchScene } from './console/bench-scene.ts'
import { measureFirstPage } from './console/first-page.ts'
import { measureFleetPages, measureIdlePage } from './console/fleet-pages.ts'
import { measurePods } from './console/pods-page.ts'
import { measureTabs } from './console/tabs.ts'
import type { BenchOptions, Figure } from './measure/figure.ts'

const root = join(import.meta.dirname, '../..')

/** All of them share one hub, in this order. */
const measures: Readonly<Record<string, (scene: BenchScene, rounds: number) => Promise<Figure[]>>> =
  {
    'first-page': measureFirstPage,
    pods: measurePods,
    fleet: measureFleetPages,
    idle: measureIdlePage,
    tabs: measureTabs,
  }

/** Measures the web console in a browser, once, because most figures are of many frames, and its hub in rounds. */
export async function run({
  rounds,
  loads = Object.keys(measures),
}: BenchOptions): Promise<Figure[]> {
  const odd = loads.find((load) => !Object.hasOwn(measures, load))
  const why =
    odd === undefined ? await whyNot() : `the loads are ${Object.keys(measures).join(', ')}`
  if (why !== false) throw new ExpectedError(`Cannot measure: ${why}`, exitCodes.usage)
  await mkdir(join(root, '.cache'), { recursive: true })
  const directory = await mkdtemp(join(root, '.cache', 'bench-console-'))
  try {
    await using scene = await startBenchScene(directory)
    const figures: Figure[] = []
    for (const [name, measure] of Object.entries(measures)) {
      if (loads.includes(name)) figures.push(...(await measure(scene, rounds)))
    }
    return figures
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
