import { dirname } from 'node:path'
import type { CSIDriverSpec } from '@skerry/api'
import type { Logger } from '@skerry/base'
import type { CsiVolume } from './describe-volume.ts'
import {
  publishedRecords,
  removeEmpty,
  removeRecord,
  stagedRecords,
  volumePlaces,
  writeRecord,
  type FoundRecord,
  type VolumePlaces,
  type VolumeRecord,
} from './volume-record.ts'

interface LedgerOptions {
  dataDirectory: string
  bootId: string
  log: Logger
  /** Called when the node uses another set of volumes that are attached. */
  onInUse: () => void
}

/**
 * The records of this node's CSI volumes: on disk, and in memory as they are there. It knows which volumes the node
 * uses, so that the controller detaches none of them.
 */
export class VolumeLedger {
  readonly #options: LedgerOptions
  readonly #staged = new Map<string, FoundRecord>()
  readonly #published = new Map<string, FoundRecord>()
  /** The uids of pods that wait for a volume to be attached, by the volume's name. */
  readonly #waiting = new Map<string, Set<string>>()
  #inUse: readonly string[] = []

  constructor(options: LedgerOptions) {
    this.#options = options
  }

  get bootId(): string {
    return this.#options.bootId
  }

  /** Reads the records of an earlier run. */
  async load(): Promise<void> {
    const { dataDirectory, log } = this.#options
    for (const found of await stagedRecords(dataDirectory, log))
      this.#staged.set(found.directory, found)
    for (const found of await publishedRecords(dataDirectory, log))
      this.#published.set(found.directory, found)
    this.#countInUse()
  }

  placesOf(volume: CsiVolume): VolumePlaces {
    return volumePlaces(this.#options.dataDirectory, volume)
  }

  /** Returns the name by which work on this volume is done in turn. */
  nameOf({ driverName, volumeHandle }: VolumeRecord): string {
    return `kubernetes.io/csi/${driverName}^${volumeHandle}`
  }

  /** Returns the names of the volumes that the node uses and that the controller attaches. */
  volumesInUse(): readonly string[] {
    return this.#inUse
  }

  recordOf(
    volume: CsiVolume,
    facts: {
      isAttachable: boolean
      publishContext: Readonly<Record<string, string>>
      policy: CSIDriverSpec | undefined
    },
  ): Omit<VolumeRecord, 'path' | 'isDone'> {
    const { isAttachable, publishContext, policy } = facts
    return {
      driverName: volume.driverName,
      volumeHandle: volume.volumeHandle,
      specVolID: volume.specName,
      volumeLifecycleMode: volume.lifecycle,
      isBlock: volume.isBlock,
      bootID: this.bootId,
      isAttachable,
      publishContext,
      ...(policy ? { driver: policy } : {}),
    }
  }

  stagedAt(directory: string): FoundRecord | undefined {
    return this.#staged.get(directory)
  }

  publishedAt(directory: string): FoundRecord | undefined {
    return this.#published.get(directory)
  }

  /** Returns the staged volume that this one was published from, if it was staged at all. */
  stagedAs(published: VolumeRecord): FoundRecord | undefined {
    const name = this.nameOf(published)
    return [...this.#staged.values()].find(({ record }) => this.nameOf(record) === name)
  }

  publishedFor(podUid: string): FoundRecord[] {
    return [...this.#published.values()].filter(({ record }) => record.podUID === podUid)
  }

  /** Reports whether the volume is published, or may be, for another pod. */
  isPublishedElsewhere({ record, directory }: FoundRecord): boolean {
    const name = this.nameOf(record)
    return [...this.#published.values()].some(
      (other) => other.directory !== directory && this.nameOf(other.record) === name,
    )
  }

  /** Notes that a pod wants the volume to be attached. */
  await(name: string, podUid: string): void {
    const pods = this.#waiting.get(name) ?? new Set()
    this.#waiting.set(name, pods.add(podUid))
    this.#countInUse()
  }

  releaseWaiting(podUid: string): void {
    for (const [name, pods] of this.#waiting) {
      if (pods.delete(podUid) && pods.size === 0) this.#waiting.delete(name)
    }
    this.#countInUse()
  }

  async stage(directory: string, record: VolumeRecord): Promise<void> {
    await writeRecord(directory, record)
    this.#staged.set(directory, { directory, record })
    this.#countInUse()
  }

  async publish(directory: string, record: VolumeRecord): Promise<void> {
    await writeRecord(directory, record)
    this.#published.set(directory, { directory, record })
    this.#countInUse()
  }

  async unpublish(directory: string): Promise<void> {
    await removeRecord(directory)
    this.#published.delete(directory)
    this.#countInUse()
  }

  async unstage({ directory, record }: FoundRecord): Promise<void> {
    await removeEmpty(record.path)
    await removeRecord(directory)
    // A device's record lies one directory deeper.
    if (record.isBlock) await removeEmpty(dirname(directory))
    this.#staged.delete(directory)
    this.#countInUse()
  }

  #countInUse(): void {
    const names = new Set(this.#waiting.keys())
    for (const { record } of [...this.#staged.values(), ...this.#published.values()]) {
      if (record.isAttachable) names.add(this.nameOf(record))
    }
    const next = [...names].toSorted()
    if (next.join('\n') === this.#inUse.join('\n')) return
    this.#inUse = next
    this.#options.onInUse()
  }
}
