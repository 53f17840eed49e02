import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { version } from '../../roles/runtime/version.ts'
import { bundleProgram } from '../build/bundle.ts'
import { alone, beside, median, type BenchOptions, type Figure } from './measure/figure.ts'
import { findKubeProxy, measureServices, type MeasuredServices } from './service-groups/services.ts'

const root = join(import.meta.dirname, '../..')

/** A goal is for the ratio if there is a peer, and for our own value otherwise. */
const wanted = Object.freeze({
  'rule.p50': { unit: 'ms', ratio: 1, own: 100 },
  'rule.p95': { unit: 'ms', ratio: null, own: null },
  processor: { unit: 'ms', ratio: 1, own: 100 },
})

/** Measures services that stay near their place, in turns with kube-proxy. */
export async function run({ rounds, upstream }: BenchOptions): Promise<Figure[]> {
  const kubeProxy = await findKubeProxy(upstream)
  await mkdir(join(root, '.cache'), { recursive: true })
  const directory = await mkdtemp(join(root, '.cache', 'bench-service-groups-'))
  try {
    const program = await bundleProgram({ outputDirectory: join(directory, 'program'), version })
    const measured: MeasuredServices[] = []
    for (let round = 0; round < rounds; round += 1) {
      const place = { program, directory: join(directory, `round-${round}`) }
      measured.push(await measureServices(place, kubeProxy))
    }
    return figuresOf(measured)
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 })
  }
}

function figuresOf(measured: readonly MeasuredServices[]): Figure[] {
  return Object.entries(wanted).map(([name, { unit, ratio, own }]) => {
    const figure = `service-groups.services.${name}`
    const ours = measured.map((each) => each.ours[name] ?? 0)
    const peer = measured.flatMap((each) => (each.peer ? [each.peer[name] ?? 0] : []))
    return peer.length === 0
      ? alone(figure, unit, median(ours), own)
      : beside(figure, { unit, ours, peer, goal: ratio })
  })
}
