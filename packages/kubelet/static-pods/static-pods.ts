import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { asError, type Clock, type Logger } from '@skerry/base'
import { isStatusError, type Node, type Pod } from '@skerry/api'
import { resources, type ClusterClient } from '@skerry/client'
import { hasCode } from '../system-error.ts'
import { isMirror, mirrorOf, staticAnnotations } from './static-pod-marks.ts'
import { staticPodDefaults } from '../limits-table.ts'

export interface StaticPodsDeps {
  cluster: ClusterClient
  clock: Clock
  log: Logger
  onSet: (pod: Pod) => void
  onRemove: (pod: Pod) => void
  /** The pods of this node as the API has them. */
  apiPods: () => readonly Pod[]
  node: () => Node | undefined
}

/** Runs pods from manifest files. They need no API; if there is one, it gets a mirror of each. */
export class StaticPods {
  readonly #deps: StaticPodsDeps
  readonly #directory: string
  readonly #nodeName: string
  /** Pods by file name. */
  readonly #pods = new Map<string, Pod>()
  /** Why files are not read, by file name. */
  readonly #unread = new Map<string, string>()
  readonly #scanned = Promise.withResolvers<void>()

  constructor(options: { directory: string; nodeName: string }, deps: StaticPodsDeps) {
    this.#directory = options.directory
    this.#nodeName = options.nodeName
    this.#deps = deps
  }

  /** Returns the mirror that receives a static pod's status; undefined if the API has none yet. */
  mirror(pod: Pod): Pod | undefined {
    return this.#deps
      .apiPods()
      .find(
        (candidate) =>
          isMirror(candidate) &&
          candidate.metadata.name === pod.metadata.name &&
          candidate.metadata.namespace === pod.metadata.namespace &&
          !candidate.metadata.deletionTimestamp,
      )
  }

  /** Resolves when the manifests were read once: before that, a static pod looks like an orphan. */
  whenScanned(): Promise<void> {
    return this.#scanned.promise
  }

  async run(signal: AbortSignal): Promise<void> {
    try {
      await this.#scanForever(signal)
    } finally {
      // A waiter for the first scan must end, too.
      this.#scanned.resolve()
    }
  }

  async #scanForever(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#scan()
      this.#scanned.resolve()
      try {
        await this.#syncMirrors(signal)
      } catch (error) {
        signal.throwIfAborted()
        this.#deps.log.debug('Mirror pods not synced', { error: asError(error) })
      }
      await this.#deps.clock.sleep(staticPodDefaults.scanMs, signal)
    }
  }

  async #scan(): Promise<void> {
    const files = (await manifestsIn(this.#directory)).slice(0, staticPodDefaults.manifestsMax)
    for (const file of files) {
      try {
        await this.#read(file, await readFile(join(this.#directory, file), 'utf8'))
        this.#unread.delete(file)
      } catch (error) {
        this.#tellUnread(file, asError(error))
      }
    }
    for (const [file, pod] of this.#pods) {
      if (files.includes(file)) continue
      this.#pods.delete(file)
      this.#deps.onRemove(pod)
    }
  }

  /** Logs each reason once, although the file is read again and again. */
  #tellUnread(file: string, error: Error): void {
    if (this.#unread.get(file) === error.message) return
    this.#unread.set(file, error.message)
    this.#deps.log.error('Manifest not read', { file, error })
  }

  async #read(file: string, text: string): Promise<void> {
    // Imported with the first manifest: every kind's defaults and YAML are 5 MB, and most nodes have none.
    const { parseManifest } = await import('./manifest.ts')
    const nowMs = this.#deps.clock.now()
    const pod = parseManifest(text, { file, nodeName: this.#nodeName, nowMs })
    const known = this.#pods.get(file)
    if (known?.metadata.uid === pod.metadata.uid) return
    if (known) this.#deps.onRemove(known)
    this.#pods.set(file, pod)
    this.#deps.onSet(pod)
  }

  /** Recreates missing and outdated mirrors; deletes those without a manifest. */
  async #syncMirrors(signal: AbortSignal): Promise<void> {
    const client = this.#deps.cluster.resource(resources.pods)
    const wanted = new Map([...this.#pods.values()].map((pod) => [nameOf(pod), pod]))
    for (const mirror of this.#deps.apiPods().filter(isMirror)) {
      const pod = wanted.get(nameOf(mirror))
      const hash = mirror.metadata.annotations?.[staticAnnotations.mirror]
      const isRight = pod?.metadata.annotations?.[staticAnnotations.hash] === hash
      if (isRight && !mirror.metadata.deletionTimestamp) {
        wanted.delete(nameOf(mirror))
        continue
      }
      const { namespace = '', name = '', uid = '' } = mirror.metadata
      const request = { namespace, name, gracePeriodSeconds: 0, preconditions: { uid } }
      await ignoring('NotFound', client.delete(request, signal))
    }
    const node = this.#deps.node()
    const owner = node?.metadata.uid ? { name: this.#nodeName, uid: node.metadata.uid } : undefined
    for (const pod of wanted.values()) {
      await ignoring('AlreadyExists', client.create(mirrorOf(pod, owner), signal))
    }
  }
}

function nameOf(pod: Pod): string {
  return `${pod.metadata.namespace}/${pod.metadata.name}`
}

async function ignoring(
  reason: 'NotFound' | 'AlreadyExists',
  work: Promise<unknown>,
): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!isStatusError(error, reason)) throw error
  }
}

async function manifestsIn(directory: string): Promise<string[]> {
  try {
    const names = await readdir(directory)
    return names.filter((name) => /^[^.].*\.(ya?ml|json)$/.test(name)).toSorted()
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  }
}
