import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ExpectedError, exitCodes } from '@skerry/base'
import { version } from '../../roles/runtime/version.ts'
import { bundleProgram } from '../build/bundle.ts'
import type { Place } from './measure/agent-fleet.ts'
import { alone, beside, median, type BenchOptions, type Figure } from './measure/figure.ts'
import { measureGrids, measureSuperedge } from './service-groups/grids.ts'
import { measureNodes } from './service-groups/nodes.ts'
import { findKubeProxy, measureServices } from './service-groups/services.ts'

const root = join(import.meta.dirname, '../..')

interface Wanted {
  readonly unit: string
  /** The goal if there is a peer. */
  readonly ratio?: number
  /** The goal of our own value if there is none. */
  readonly own?: number
}

interface Load {
  readonly figures: Readonly<Record<string, Wanted>>
  readonly measure: (place: Place, upstream: string) => Promise<Measured>
}

interface Measured {
  readonly ours: Readonly<Record<string, number>>
  readonly peer?: Readonly<Record<string, number>>
}

const loads: Readonly<Record<string, Load>> = {
  grids: {
    figures: {
      made: { unit: 's', ratio: 1 },
      updated: { unit: 's', ratio: 1 },
      requests: { unit: 'requests', ratio: 1 },
      processor: { unit: 's' },
      memory: { unit: 'MB' },
    },
    measure: async (place) => ({
      ours: await measureGrids(place),
      peer: await measureSuperedge(place),
    }),
  },
  nodes: {
    figures: {
      settled: { unit: 's', own: 15 },
      requests: { unit: 'requests', own: 5_250 },
    },
    measure: async (place) => ({ ours: await measureNodes(place) }),
  },
  services: {
    figures: {
      'rule.p50': { unit: 'ms', ratio: 1, own: 100 },
      'rule.p95': { unit: 'ms' },
      processor: { unit: 'ms', ratio: 1, own: 100 },
    },
    measure: async (place, upstream) => measureServices(place, await findKubeProxy(upstream)),
  },
}

/** Measures applications in many places next to SuperEdge's controller, and near services next to kube-proxy. */
export async function run({
  rounds,
  upstream,
  loads: names = Object.keys(loads),
}: BenchOptions): Promise<Figure[]> {
  const chosen = names.map((name): [string, Load] => {
    const load = loads[name]
    if (load) return [name, load]
    const text = `Cannot measure load ${name}: there are ${Object.keys(loads).join(', ')}`
    throw new ExpectedError(text, exitCodes.usage)
  })
  await mkdir(join(root, '.cache'), { recursive: true })
  const directory = await mkdtemp(join(root, '.cache', 'bench-service-groups-'))
  try {
    const program = await bundleProgram({ outputDirectory: join(directory, 'program'), version })
    const figures: Figure[] = []
    for (const [name, { figures: wanted, measure }] of chosen) {
      const measured: Measured[] = []
      for (let round = 0; round < rounds; round += 1) {
        const place = { program, directory: join(directory, `${name}-${round}`) }
        measured.push(await measure(place, upstream))
      }
      figures.push(...figuresOf(name, wanted, measured))
    }
    return figures
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 })
  }
}

function figuresOf(load: string, wanted: Load['figures'], measured: readonly Measured[]): Figure[] {
  return Object.entries(wanted).map(([name, { unit, ratio = null, own = null }]) => {
    const figure = `service-groups.${load}.${name}`
    const ours = measured.map((each) => each.ours[name] ?? 0)
    const peer = measured.flatMap((each) => (each.peer ? [each.peer[name] ?? 0] : []))
    return peer.length === 0
      ? alone(figure, unit, median(ours), own)
      : beside(figure, { unit, ours, peer, goal: ratio })
  })
}
