import { asError, runAll, type Clock, type Logger, type Metrics } from '@skerry/base'
import { csiDefaults } from '../limits-table.ts'
import type { MeasuredVolume } from '../stats/stats-summary.ts'
import type { VolumeUsage as DriverUsage } from './csi-driver.ts'
import type { CsiDrivers } from './csi-drivers.ts'
import type { VolumeLedger } from './volume-ledger.ts'
import type { FoundRecord } from './volume-record.ts'

interface VolumeUsageDeps {
  clock: Clock
  log: Logger
  metrics: Metrics
  drivers: CsiDrivers
  ledger: VolumeLedger
}

interface Measured extends MeasuredVolume {
  readonly driver: string
}

/** kubelet's names of metrics, by the figure of a volume. */
const gauges = [
  ['availableBytes', 'available_bytes', 'Number of available bytes in the volume'],
  ['capacityBytes', 'capacity_bytes', 'Capacity in bytes of the volume'],
  ['usedBytes', 'used_bytes', 'Number of used bytes in the volume'],
  ['inodesFree', 'inodes_free', 'Number of free inodes in the volume'],
  ['inodes', 'inodes', 'Maximum number of inodes in the volume'],
  ['inodesUsed', 'inodes_used', 'Number of used inodes in the volume'],
] as const

/**
 * Knows how full the volumes of drivers are, as the drivers measure that. They are asked from time to time and not at each
 * scrape, because one that hangs would hold up the figures of everything else.
 */
export class VolumeUsage {
  readonly #deps: VolumeUsageDeps
  /** The last figures, by the directory of the volume's record. */
  readonly #measured = new Map<string, Measured>()

  constructor(deps: VolumeUsageDeps) {
    this.#deps = deps
    for (const [figure, suffix, help] of gauges) {
      const name = `kubelet_volume_stats_${suffix}`
      const labels = ['namespace', 'persistentvolumeclaim']
      deps.metrics.observed({ type: 'gauge', name, help, labels }, () => this.#samples(figure))
    }
  }

  /** Returns the last figures of the pod's volumes. */
  of(podUid: string): MeasuredVolume[] {
    return this.#deps.ledger
      .publishedFor(podUid)
      .flatMap(({ directory }) => this.#measured.get(directory) ?? [])
  }

  async run(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#measure(signal)
      await this.#deps.clock.sleep(csiDefaults.usageMs, signal)
    }
  }

  async #measure(signal: AbortSignal): Promise<void> {
    const published = this.#deps.ledger.published()
    const directories = new Set(published.map(({ directory }) => directory))
    for (const directory of this.#measured.keys()) {
      if (!directories.has(directory)) this.#measured.delete(directory)
    }
    const byDriver = Map.groupBy(published, ({ record }) => record.driverName)
    await runAll(
      signal,
      [...byDriver].map(
        ([driver, volumes]) =>
          (scope: AbortSignal) =>
            this.#measureDriver(driver, volumes, scope),
      ),
    )
  }

  /** Gives up the round of a driver with the first failure: a driver that hangs would hang at each volume. */
  async #measureDriver(
    name: string,
    volumes: readonly FoundRecord[],
    signal: AbortSignal,
  ): Promise<void> {
    const { drivers, ledger, clock, log } = this.#deps
    const driver = drivers.find(name)
    if (!driver?.capabilities.has('GET_VOLUME_STATS')) return
    for (const { directory, record } of volumes) {
      if (!record.isDone || record.isBlock) continue
      const request = {
        volumeId: record.volumeHandle,
        volumePath: record.path,
        stagingTargetPath: ledger.stagedAs(record)?.record.path ?? '',
      }
      try {
        const usage = await driver.calls.usage(request, signal)
        const { volumeName, claim } = record
        const figures = figuresOf(usage)
        this.#measured.set(directory, {
          driver: name,
          name: volumeName,
          ...(claim ? { pvcRef: claim } : {}),
          time: new Date(clock.now()).toISOString(),
          ...figures,
        })
      } catch (error) {
        signal.throwIfAborted()
        return log.debug('Use of a volume not measured', { driver: name, error: asError(error) })
      }
    }
  }

  *#samples(figure: (typeof gauges)[number][0]) {
    for (const { pvcRef, [figure]: value } of this.#measured.values()) {
      if (!pvcRef || value === undefined) continue
      const { namespace, name: persistentvolumeclaim } = pvcRef
      yield { labels: { namespace, persistentvolumeclaim }, value }
    }
  }
}

function figuresOf(usage: readonly DriverUsage[]): Partial<Measured> {
  const bytes = usage.find(({ unit }) => unit === 'BYTES')
  const inodes = usage.find(({ unit }) => unit === 'INODES')
  return {
    ...(bytes
      ? {
          availableBytes: bytes.available,
          capacityBytes: bytes.total,
          usedBytes: bytes.used,
        }
      : {}),
    ...(inodes
      ? { inodesFree: inodes.available, inodes: inodes.total, inodesUsed: inodes.used }
      : {}),
  }
}
