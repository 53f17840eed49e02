import type { ResourceModel } from './cluster.ts'

/** The most that a quantity can be: the last grade has no end. */
const unlimited = '9223372036854775807'

/** The models that Karmada gives a Cluster without any: nine grades of free CPU and memory. */
export const defaultResourceModels: readonly ResourceModel[] = Object.freeze(
  [
    ['0', '0'],
    ['1', '4Gi'],
    ['2', '16Gi'],
    ['4', '32Gi'],
    ['8', '64Gi'],
    ['16', '128Gi'],
    ['32', '256Gi'],
    ['64', '512Gi'],
    ['128', '1Ti'],
  ].map(([cpu = '0', memory = '0'], grade, all) => {
    const [nextCpu = unlimited, nextMemory = unlimited] = all[grade + 1] ?? []
    return {
      grade,
      ranges: [
        { name: 'cpu', min: cpu, max: nextCpu },
        { name: 'memory', min: memory, max: nextMemory },
      ],
    }
  }),
)
