import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import { messageOf, type Logger } from '@skerry/base'
import { hasCode } from '../system-error.ts'
import { writeWholeFile } from '../write-whole-file.ts'
import type { DevicesByContainer } from './plan-allocation.ts'

const textsSchema = z.record(z.string(), z.string())
const devicesSchema = z.object({
  envs: textsSchema,
  mounts: z.array(
    z.object({ containerPath: z.string(), hostPath: z.string(), readOnly: z.boolean() }),
  ),
  devices: z.array(
    z.object({ containerPath: z.string(), hostPath: z.string(), permissions: z.string() }),
  ),
  annotations: textsSchema,
  cdiDevices: z.array(z.object({ name: z.string() })),
})
const entrySchema = z.object({
  podUid: z.string(),
  container: z.string(),
  resource: z.string(),
  ids: z.array(z.string()),
  /** The boot in which the plugin has prepared them. */
  bootId: z.string(),
  given: devicesSchema,
})
const fileSchema = z.object({ resources: z.array(z.string()), entries: z.array(entrySchema) })

/** The devices of one resource that one container has. */
export type DeviceEntry = Readonly<z.infer<typeof entrySchema>>

/** The record of which container has which devices: on disk, so that a restart gives nobody another one's. */
export class DeviceLedger {
  readonly #path: string
  readonly #log: Logger
  #entries: readonly DeviceEntry[] = []
  #resources: ReadonlySet<string> = new Set()
  #writing: Promise<void> = Promise.resolve()

  constructor(path: string, log: Logger) {
    this.#path = path
    this.#log = log
  }

  async load(): Promise<void> {
    try {
      const file = fileSchema.parse(JSON.parse(await readFile(this.#path, 'utf8')))
      this.#entries = file.entries
      this.#resources = new Set(file.resources)
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return
      this.#log.error('Record of devices is damaged: containers that start again may get others', {
        path: this.#path,
        error: messageOf(error),
      })
    }
  }

  /** The resources that plugins have registered, also in earlier runs. */
  get resources(): ReadonlySet<string> {
    return this.#resources
  }

  entryOf(podUid: string, container: string, resource: string): DeviceEntry | undefined {
    return this.#entries.find(
      (one) => one.podUid === podUid && one.container === container && one.resource === resource,
    )
  }

  ownOf(podUid: string, resource: string): DevicesByContainer {
    const own = this.#entries.filter((one) => one.podUid === podUid && one.resource === resource)
    return new Map(own.map(({ container, ids }) => [container, ids]))
  }

  takenFrom(podUid: string, resource: string): ReadonlySet<string> {
    const others = this.#entries.filter((one) => one.podUid !== podUid && one.resource === resource)
    return new Set(others.flatMap(({ ids }) => ids))
  }

  /** Resolves once it is on disk. */
  async put(entry: DeviceEntry): Promise<void> {
    const { podUid, container, resource } = entry
    const old = this.entryOf(podUid, container, resource)
    this.#entries = [...this.#entries.filter((one) => one !== old), entry]
    await this.#write()
  }

  async addResource(name: string): Promise<void> {
    if (this.#resources.has(name)) return
    this.#resources = new Set([...this.#resources, name])
    await this.#write()
  }

  /** Forgets the devices of pods that hold none any more. */
  async keepOnly(podUids: ReadonlySet<string>): Promise<void> {
    const kept = this.#entries.filter(({ podUid }) => podUids.has(podUid))
    if (kept.length === this.#entries.length) return
    this.#entries = kept
    await this.#write()
  }

  /** Writes follow one another, and each has the newest state. */
  async #write(): Promise<void> {
    const written = this.#writing.then(() => {
      const content = { resources: [...this.#resources], entries: this.#entries }
      return writeWholeFile(this.#path, JSON.stringify(content))
    })
    this.#writing = written.catch(() => undefined)
    await written
  }
}
